import { fullTime } from "../../words/format.ts";
import { CopyButton } from "../basic/button.tsx";

interface OnceSecretProps {
  readonly title: string;
  readonly secret: string;
  /** Absent for a secret that is good until it is revoked. */
  readonly expires?: string;
}

/** A token or an invitation that was just made: the gateway keeps only its hash, so that it is never shown again. */
export function OnceSecret({ title, secret, expires }: OnceSecretProps) {
  return (
    <div className="note good" role="status">
      <div className="grow">
        <p>{title} It is shown only now.</p>
        <p className="command">
          <code>{secret}</code> <CopyButton text={secret} label="Copy" />
        </p>
        {expires !== undefined && <p className="muted">Good until {fullTime(expires)}.</p>}
      </div>
    </div>
  );
}
