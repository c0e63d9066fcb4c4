import type { FormState } from "../create/form-state.ts";
import { Field, Form } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import type { SettingsForms } from "../owner-settings/settings-part.ts";
import { CURRENT_PASSWORD } from "./confirm-password.ts";
import { SECURITY_PATH } from "./security-path.ts";

/** The field for the reader's password. */
export const PasswordField = ({
  id,
  state,
  isOptional = false,
}: {
  id: string;
  /** The form as it was sent. */
  state: FormState;
  /** Where a code may take its place. */
  isOptional?: boolean;
}) => (
  <Field
    label="Your password"
    name={CURRENT_PASSWORD}
    id={id}
    type="password"
    autocomplete="current-password"
    fault={state.of(CURRENT_PASSWORD).fault}
    isOptional={isOptional}
  />
);

interface FactorProps {
  page: OwnPage;
  forms: SettingsForms;
}

/** The reader's authenticator app. */
export function AuthenticatorApp({ page: { user, formToken }, forms }: FactorProps) {
  return (
    <section class="card" aria-labelledby="totp">
      <h2 id="totp">Authenticator app</h2>
      {user.hasTotp ? (
        <>
          <p>Signing in needs a code of your app.</p>
          <Form action={`${SECURITY_PATH}/two_factor/disable`} formToken={formToken}>
            <PasswordField id="disable-totp" state={forms.of("two_factor/disable")} />
            <button type="submit" class="danger">
              Remove the app
            </button>
          </Form>
        </>
      ) : (
        <>
          <p>
            Without it, your password is all that it takes to sign in. With it, git and other
            clients that ask for a password take an access token instead.
          </p>
          <Form action={`${SECURITY_PATH}/two_factor/start`} formToken={formToken}>
            <PasswordField id="start-totp" state={forms.of("two_factor/start")} />
            <button type="submit">Set up an app</button>
          </Form>
        </>
      )}
    </section>
  );
}

/** How many recovery codes are left, and new ones. */
export function RecoveryCodes({ page, forms, left }: FactorProps & { left: number }) {
  if (!page.user.hasTotp && !page.user.hasWebauthn) return undefined;
  return (
    <section class="card" aria-labelledby="recovery">
      <h2 id="recovery">Recovery codes</h2>
      <p>
        Each signs you in once where you lack your second factor. You have {left} left. New codes
        replace them.
      </p>
      <Form action={`${SECURITY_PATH}/recovery_codes`} formToken={page.formToken}>
        <PasswordField id="new-codes" state={forms.of("recovery_codes")} />
        <button type="submit">Make new codes</button>
      </Form>
    </section>
  );
}

/** Recovery codes, at the only time when they are shown. */
export const NewRecoveryCodes = ({ codes }: { codes: readonly string[] }) => (
  <section class="card" aria-labelledby="recovery">
    <h2 id="recovery">Recovery codes</h2>
    <p>
      Store these where you find them without your second factor. Each signs you in once. They are
      not shown again.
    </p>
    <ul class="codes">
      {codes.map((code) => (
        <li>
          <code>{code}</code>
        </li>
      ))}
    </ul>
    <a class="button" href={SECURITY_PATH}>
      I have stored them
    </a>
  </section>
);
