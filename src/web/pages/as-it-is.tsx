import type { PropsWithChildren } from "hono/jsx";

/** What a form edits, as it is, beside an edit of what it was. */
export function AsItIs({ what, children }: PropsWithChildren<{ what: string }>) {
  return (
    <details open>
      <summary>{`${what} as it is now, which another send replaces`}</summary>
      {children}
    </details>
  );
}
