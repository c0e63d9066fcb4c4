import { PASSWORD_LENGTH_MAX } from "../../auth/password.ts";
import type { Config } from "../../config.ts";
import type { FormState } from "./create/form-state.ts";
import type { Form } from "./form.ts";
import { Field } from "./layout.tsx";

interface NewPasswordFieldsProps {
  config: Config;
  /** The form as it was sent, where its fields say themselves why it was refused. */
  state?: FormState;
}

/** The two fields for a new password. */
export function NewPasswordFields({ config, state }: NewPasswordFieldsProps) {
  return (
    <>
      <Field
        label="New password"
        name="password"
        type="password"
        autocomplete="new-password"
        hint={`At least ${config.passwordLengthMin} characters.`}
        fault={state?.of("password").fault}
      />
      <Field
        label="New password again"
        name="retype"
        type="password"
        autocomplete="new-password"
        fault={state?.of("retype").fault}
      />
    </>
  );
}

/** Finds the fault of the new password of a form; undefined if it has none. */
export function findPasswordFault(form: Form, { passwordLengthMin }: Config): string | undefined {
  const password = form.text("password");
  if (password.length < passwordLengthMin) {
    return `The password must have at least ${passwordLengthMin} characters.`;
  }
  if (password.length > PASSWORD_LENGTH_MAX) {
    return `The password must have at most ${PASSWORD_LENGTH_MAX} characters.`;
  }
  return password === form.text("retype") ? undefined : "The two passwords differ.";
}
