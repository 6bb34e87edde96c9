import { Check, Copy } from "lucide-react";
import { useEffect, useState, type ButtonHTMLAttributes } from "react";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `main` for what a page is there for, `danger` for what cannot be undone. */
  readonly look?: "main" | "danger" | "plain";
  /** Whether it works on what was ordered. It then takes no second order, and keeps the focus. */
  readonly isBusy?: boolean;
}

export function Button({ look, isBusy = false, className, children, onClick, ...rest }: ButtonProps) {
  const classes = ["button", look ?? "", isBusy ? "busy" : "", className ?? ""].filter((name) => name !== "");
  return (
    <button
      type="button"
      {...rest}
      className={classes.join(" ")}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
    >
      {children}
    </button>
  );
}

const shownMs = 1_500;

interface CopyProps {
  /** A long text is made only when it is wanted. */
  readonly text: string | (() => string);
  readonly label: string;
}

/** Copies a text, and says that it did. */
export function CopyButton({ text, label }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    const whole = typeof text === "string" ? text : text();
    void navigator.clipboard.writeText(whole).then(() => setCopied(true));
  };
  return (
    <Button look="plain" onClick={copy}>
      {isCopied ? <Check aria-hidden size={14} /> : <Copy aria-hidden size={14} />}
      <span aria-live="polite">{isCopied ? "Copied" : label}</span>
    </Button>
  );
}
