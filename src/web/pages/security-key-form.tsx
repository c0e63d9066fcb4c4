import { FORM_TOKEN_FIELD } from "./form.ts";

interface SecurityKeyFormProps {
  path: string;
  formToken: string;
  /** Whether a key is added or used. */
  action: "create" | "get";
  /** The options of the browser's request to the key. */
  options: object;
  /** Further fields. */
  fields: Readonly<Record<string, string>>;
  label: string;
}

/**
 * A form that the script security-key.ts fills in with the answer of a security key, in the field
 * `response`.
 */
export const SecurityKeyForm = (props: SecurityKeyFormProps) => (
  <form
    method="post"
    action={props.path}
    data-webauthn={props.action}
    data-options={JSON.stringify(props.options)}
  >
    <input type="hidden" name={FORM_TOKEN_FIELD} value={props.formToken} />
    {Object.entries(props.fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    <input type="hidden" name="response" value="" />
    <p role="alert" class="alert"></p>
    <noscript>
      <p>Security keys need JavaScript.</p>
    </noscript>
    <button type="submit" class="primary wide">
      {props.label}
    </button>
  </form>
);
