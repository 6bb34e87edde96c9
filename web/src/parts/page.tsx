import { useEffect, useRef, type ReactNode, type Ref } from "react";

/** A page with its heading, which is where keyboard and screen reader are after a change of pages. */
export function Page({ title, icon, about, actions, children }: PageProps & { readonly icon?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Toolyard`;
    // At the first page the browser's own place is right.
    if (document.activeElement?.closest("nav") != null) heading.current?.focus();
  }, [title]);
  return (
    <>
      <header className="page-head">
        <div>
          <div className="page-title">
            {icon}
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
          </div>
          {about !== undefined && <p className="muted">{about}</p>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

export interface PageProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

interface SectionProps extends PageProps {
  readonly place?: Ref<HTMLElement>;
}

/** A part of a page with its own heading. */
export function Section({ title, about, actions, place, children }: SectionProps) {
  return (
    <section className="section" aria-label={title} ref={place}>
      <header className="section-head">
        <h2>{title}</h2>
        {about !== undefined && <span className="muted">{about}</span>}
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
