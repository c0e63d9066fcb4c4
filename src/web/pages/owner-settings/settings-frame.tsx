import type { PropsWithChildren } from "hono/jsx";

import { ConfirmMenu } from "../confirm-menu.tsx";
import { HelpLink } from "../help-link.tsx";
import { Form, Notice } from "../layout.tsx";
import type { Refusal } from "../or-refuse.ts";
import type { SettingsView } from "./settings-part.ts";

/** Parts of settings by their paths below that of the settings, in the order of their links. */
export type SettingsLinks = Readonly<Record<string, readonly [label: string, document: string]>>;

interface SettingsFrameProps {
  /** The path of the settings. */
  path: string;
  /** The names of the parts and the documents about them, by their paths below it. */
  links: SettingsLinks;
  /** The document about a page that is none of these parts. */
  help?: string;
  view: SettingsView;
  refusal: Refusal | undefined;
}

/** A page of settings beside the links of all of them. */
export function SettingsFrame({ path, links, help, view, refusal }: SettingsFrameProps) {
  const document = view.link === undefined ? help : links[view.link]?.[1];
  return (
    <div class="settings">
      <nav aria-label="Settings">
        <ul class="side-nav">
          {Object.entries(links).map(([below, [label]]) => (
            <li>
              <a href={path + below} aria-current={below === view.link ? "page" : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div>
        {view.isHeaded ? undefined : <h2>{view.title}</h2>}
        {document === undefined ? undefined : <HelpLink document={document} />}
        {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
        {view.body}
      </div>
    </div>
  );
}

interface ActionFormProps {
  page: { readonly formToken: string };
  /** The path of the form. */
  to: string;
  action: string;
  /** Hidden fields besides. */
  fields?: Readonly<Record<string, string | number>>;
  class?: string;
  enctype?: "multipart/form-data";
}

/** A form of a page of settings. */
export function ActionForm(props: PropsWithChildren<ActionFormProps>) {
  const { page, to, action, fields = {}, children, ...attributes } = props;
  return (
    <Form action={to} formToken={page.formToken} {...attributes}>
      <input type="hidden" name="action" value={action} />
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={String(value)} />
      ))}
      {children}
    </Form>
  );
}

interface AskingFormProps extends Pick<ActionFormProps, "page" | "to" | "action" | "fields"> {
  /** The button that opens the question, and that which answers it. */
  label: string;
  /** What the button is about, for those who hear it alone. */
  about?: string;
}

/** A form that asks before it is sent, so that one click does nothing. */
export function AskingForm(props: PropsWithChildren<AskingFormProps>) {
  const { page, to, action, fields, label, about = "", children } = props;
  return (
    <ConfirmMenu
      label={label}
      subject={about}
      action={to}
      formToken={page.formToken}
      fields={{ action, ...fields }}
      button={`${label} ${about}`.trim()}
    >
      {children}
    </ConfirmMenu>
  );
}
