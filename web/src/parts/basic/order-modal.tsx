import { useId, type ReactNode } from "react";
import { Button } from "./button.tsx";
import { Modal } from "./confirm.tsx";
import { FailureNote } from "./states.tsx";

interface OrderModalProps {
  readonly title: string;
  /** What its button says. */
  readonly submit: string;
  readonly order: {
    readonly isPending: boolean;
    readonly isSuccess: boolean;
    readonly error: unknown;
    readonly mutate: () => void;
  };
  /** Whether enough was typed. Default: yes. */
  readonly isReady?: boolean;
  /** Default: once the gateway has answered without an error. */
  readonly isDone?: boolean;
  /** Default: yes; a closed modal that stays mounted keeps the typed text. */
  readonly isOpen?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/**
 * A dialog with a form that orders one thing, with Enter or its button. It does so once: a second Enter must not make
 * another, whose answer hides the secret that is shown once. For the same reason it stays open until the gateway has
 * answered, and a click beside it does not close it.
 */
export function OrderModal({
  title,
  submit,
  order,
  isReady = true,
  isDone,
  isOpen = true,
  onClose,
  children,
}: OrderModalProps) {
  const form = useId();
  const { isPending, error } = order;
  const isOver = isDone ?? order.isSuccess;
  return (
    <Modal
      title={title}
      isOpen={isOpen}
      isForm
      isBusy={isPending}
      onClose={onClose}
      actions={
        !isOver && (
          <Button look="main" type="submit" form={form} isBusy={isPending || !isReady}>
            {submit}
          </Button>
        )
      }
    >
      <form
        id={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isPending && !isOver) order.mutate();
        }}
      >
        {children}
        {error !== null && <FailureNote error={error} />}
      </form>
    </Modal>
  );
}
