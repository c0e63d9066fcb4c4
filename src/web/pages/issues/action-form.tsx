import type { PropsWithChildren } from "hono/jsx";

import type { IssueAction } from "./actions.ts";
import { Form } from "../layout.tsx";

/** Where the forms of a conversation are sent. */
export interface Sending {
  /** The path of the issue's page. */
  path: string;
  formToken: string;
}

interface ActionFormProps extends Sending {
  action: IssueAction;
  class?: string;
  id?: string;
}

/** A form of a conversation, which names what it does to the issue. */
export function ActionForm({
  path,
  action,
  children,
  ...attributes
}: PropsWithChildren<ActionFormProps>) {
  return (
    <Form action={path} {...attributes}>
      <input type="hidden" name="action" value={action} />
      {children}
    </Form>
  );
}
