import type { PropsWithChildren } from "hono/jsx";

import { Form } from "./layout.tsx";

interface ConfirmMenuProps {
  /** What the menu is called: "Delete". */
  label: string;
  /** What it is about, for those who hear the label alone; "" where the label says it. */
  subject: string;
  action: string;
  formToken: string;
  /** Hidden fields of the form. */
  fields?: Readonly<Record<string, string | number>>;
  /** The words of the button that sends the form: "Delete laptop". */
  button: string;
}

/**
 * A menu with a form that deletes or ends something, so that one click does nothing.
 *
 * @param props.children What happens then, and fields of the form.
 */
export function ConfirmMenu(props: PropsWithChildren<ConfirmMenuProps>) {
  const { label, subject, action, formToken, fields = {}, button, children } = props;
  return (
    <details class="menu end">
      <summary class="button small">
        {label}
        {subject === "" ? undefined : <span class="hidden">{` ${subject}`}</span>}
      </summary>
      <div class="menu-body">
        <Form action={action} formToken={formToken}>
          {Object.entries(fields).map(([name, value]) => (
            <input type="hidden" name={name} value={String(value)} />
          ))}
          {children}
          <button type="submit" class="danger">
            {button}
          </button>
        </Form>
      </div>
    </details>
  );
}
