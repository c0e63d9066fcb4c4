import type { WebauthnCredential } from "../../../db/schema/index.ts";
import { FormState } from "../create/form-state.ts";
import { Field, Form } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import type { SettingsForms } from "../owner-settings/settings-part.ts";
import { Time } from "../time.tsx";
import { PasswordField } from "./second-factors.tsx";
import { SECURITY_PATH } from "./security-path.ts";

/** Characters of the name of a key. */
export const KEY_NAME_CHARS_MAX = 50;

/** The reader's WebAuthn keys. */
export function SecurityKeys({
  page: { formToken },
  forms,
  keys,
}: {
  page: OwnPage;
  forms: SettingsForms;
  keys: readonly WebauthnCredential[];
}) {
  const [start, remove] = [forms.of("webauthn/start"), forms.of("webauthn/remove")];
  return (
    <section class="card" aria-labelledby="security-keys">
      <h2 id="security-keys">Security keys</h2>
      <p>
        A key in your device or on your key ring (WebAuthn) is a second factor that can't be typed
        into a wrong page. With one, clients need access tokens: they can't send your password.
      </p>
      <ul class="list">
        {keys.map(({ id, name, createdAt, lastUsedAt }) => (
          <li>
            <div class="grow">
              <div>{name}</div>
              <div class="soft">
                Added <Time at={createdAt} />
                {lastUsedAt === null ? undefined : (
                  <>
                    , last used <Time at={lastUsedAt} />
                  </>
                )}
                .
              </div>
            </div>
            <Form action={`${SECURITY_PATH}/webauthn/remove`} formToken={formToken}>
              <input type="hidden" name="id" value={String(id)} />
              <PasswordField
                id={`remove-key-${id}`}
                state={remove.of("id").value === String(id) ? remove : FormState.fresh()}
              />
              <button type="submit" class="danger">
                Remove<span class="hidden"> {name}</span>
              </button>
            </Form>
          </li>
        ))}
      </ul>
      <Form action={`${SECURITY_PATH}/webauthn/start`} formToken={formToken}>
        <Field
          label="Name of a new key"
          {...start.of("name")}
          autocomplete="off"
          maxlength={KEY_NAME_CHARS_MAX}
        />
        <PasswordField id="start-key" state={start} />
        <button type="submit">Add a key</button>
      </Form>
    </section>
  );
}
