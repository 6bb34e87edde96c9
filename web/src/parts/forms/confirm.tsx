import { Dialog } from "@base-ui/react/dialog";
import { useState, type ReactNode } from "react";
import { Button, type ButtonProps } from "../basic/button.tsx";

export interface ModalProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Whether it holds what somebody typed: a click beside it then does not close it. */
  readonly isForm?: boolean;
  /** While its order is under way it stays open: closed, it could not show the result. */
  readonly isBusy?: boolean;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
}

/** A dialog: Escape closes it, the focus goes back to what opened it. */
export function Modal({ title, isOpen, onClose, isForm = false, isBusy = false, children, actions }: ModalProps) {
  return (
    <Dialog.Root
      open={isOpen}
      disablePointerDismissal={isForm}
      onOpenChange={(open) => {
        if (!open && !isBusy) onClose();
      }}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="modal">
          <Dialog.Title className="modal-title">{title}</Dialog.Title>
          <div className="modal-body">{children}</div>
          <div className="actions end">
            {actions}
            <Dialog.Close className={isBusy ? "button busy" : "button"} aria-disabled={isBusy || undefined}>
              Close
            </Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface ConfirmProps extends Pick<ButtonProps, "look" | "isBusy"> {
  readonly label: string;
  readonly question: string;
  readonly about: ReactNode;
  readonly onYes: () => void;
}

/** A button that asks first, for what others notice or what cannot be undone. */
export function ConfirmButton({ label, question, about, onYes, look, isBusy }: ConfirmProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...(look === undefined ? {} : { look })} isBusy={isBusy ?? false} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Modal
        title={question}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        actions={
          <Button
            look="main"
            onClick={() => {
              setOpen(false);
              onYes();
            }}
          >
            {label}
          </Button>
        }
      >
        {about}
      </Modal>
    </>
  );
}
