import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import type { Child } from "hono/jsx";

import { tokensToSign } from "../../../domain/people/keys/gpg-key-token.ts";
import {
  addGpgKeys,
  listGpgKeys,
  proveGpgKey,
  removeGpgKey,
} from "../../../domain/people/keys/gpg-keys.ts";
import { listUserKeys } from "../../../domain/people/keys/list-ssh-keys.ts";
import { addUserKey, removeUserKey } from "../../../domain/people/keys/ssh-keys.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { ConfirmMenu } from "../confirm-menu.tsx";
import { CopyButton } from "../copy-button.tsx";
import { AreaField } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { Fault, Field, Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { SettingsForms } from "../owner-settings/settings-part.ts";
import { readId } from "../read-id.ts";
import { Time } from "../time.tsx";
import { changeOwn } from "./change-own.ts";
import { outcomeOf, renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/keys";
const TITLE_LENGTH_MAX = 255;
const LISTED = { size: 100, offset: 0 };

/** The reader's SSH and OpenPGP keys. */
export const keys = new Hono<WebEnv>({ router: new TrieRouter() });

keys.get(PATH, async (c) => renderKeys(c, await openOwnPage(c)));

type Action = (page: OwnPage, form: SentForm) => Promise<unknown>;

/** The actions by the last part of the address of their forms. */
const ACTIONS: Readonly<Record<string, Action>> = {
  "ssh/add": async ({ ctx, user }, form) => {
    const content = form.text("content").trim();
    // As ssh-keygen writes it, a key ends with a comment.
    const title = form.text("title").trim() || content.split(/\s+/).slice(2).join(" ");
    if (title === "" || title.length > TITLE_LENGTH_MAX) {
      throw invalidField("title", `must have 1 to ${TITLE_LENGTH_MAX} characters`);
    }
    await addUserKey(ctx, user, title, content);
  },
  "ssh/remove": ({ ctx, user }, form) => removeUserKey(ctx, user, readId(form.text("id"))),
  "gpg/add": ({ ctx, user }, form) => addGpgKeys(ctx, user, form.text("armored"), undefined),
  "gpg/verify": ({ ctx, user }, form) =>
    proveGpgKey(ctx, user, form.text("key_id"), form.text("signature")),
  "gpg/remove": ({ ctx, user }, form) => removeGpgKey(ctx, user, readId(form.text("id"))),
};

/** The field of each form that a refusal is about which names none. */
const FIELDS: Readonly<Record<string, string>> = {
  "ssh/add": "content",
  "gpg/add": "armored",
  "gpg/verify": "signature",
};

for (const [action, work] of Object.entries(ACTIONS)) {
  keys.post(`${PATH}/${action}`, (c) =>
    changeOwn(
      c,
      async (page, form) => {
        await work(page, form);
        return PATH;
      },
      (page, { form, refusal }) =>
        renderKeys(c, page, new SettingsForms(refusal && { action, form, refusal })),
      openOwnPage,
      () => FIELDS[action],
    ),
  );
}

async function renderKeys(c: Context<WebEnv>, page: OwnPage, forms = new SettingsForms()) {
  const { ctx, user, formToken } = page;
  const [ssh, gpg, [token = ""]] = await Promise.all([
    listUserKeys(ctx, user, { fingerprint: "" }, LISTED),
    listGpgKeys(ctx, user, LISTED),
    tokensToSign(user, ctx.now),
  ]);
  return renderSettings(
    c,
    page,
    { part: "keys", ...outcomeOf(forms, ["title", ...Object.values(FIELDS)]) },
    <>
      <section class="card" aria-labelledby="ssh">
        <h2 id="ssh">SSH keys</h2>
        <p>Signatures of commits by these keys are shown as yours.</p>
        <ul class="list">
          {ssh.items.map(({ id, title, fingerprint, createdAt }) => (
            <Key name={title} form={`${PATH}/ssh/remove`} id={id} formToken={formToken}>
              {fingerprint}. Added <Time at={createdAt} />.
            </Key>
          ))}
        </ul>
        <Form action={`${PATH}/ssh/add`} formToken={formToken}>
          <Field
            label="Title"
            {...forms.of("ssh/add").of("title")}
            autocomplete="off"
            maxlength={TITLE_LENGTH_MAX}
            hint="Without one, the comment of the key."
            isOptional
          />
          <AreaField
            state={forms.of("ssh/add")}
            label="Public key"
            name="content"
            hint="As in ~/.ssh/id_ed25519.pub."
            isOptional={false}
          />
          <button type="submit">Add SSH key</button>
        </Form>
      </section>
      <section class="card" aria-labelledby="gpg">
        <h2 id="gpg">OpenPGP keys</h2>
        <p>
          Signatures of commits by a key that names one of your confirmed addresses are shown as
          yours.
        </p>
        <ul class="list">
          {gpg.items.map(({ key }) => (
            <Key name={key.keyId} form={`${PATH}/gpg/remove`} id={key.id} formToken={formToken}>
              {[...key.emails, key.isProven ? "verified by a signature" : "not verified"].join(
                ", ",
              )}
              {key.isProven ? undefined : (
                <GpgProof
                  keyId={key.keyId}
                  token={token}
                  formToken={formToken}
                  state={forms.of("gpg/verify")}
                />
              )}
            </Key>
          ))}
        </ul>
        <Form action={`${PATH}/gpg/add`} formToken={formToken}>
          <AreaField
            state={forms.of("gpg/add")}
            label="Armored public key"
            name="armored"
            hint="As gpg --armor --export writes it."
            isOptional={false}
          />
          <button type="submit">Add OpenPGP key</button>
        </Form>
      </section>
    </>,
  );
}

interface KeyProps {
  name: string;
  /** The action of the form that removes it. */
  form: string;
  id: number;
  formToken: string;
  children?: Child;
}

const Key = ({ name, form, id, formToken, children }: KeyProps) => (
  <li>
    <div class="grow">
      <div>{name}</div>
      <div class="soft">{children}</div>
    </div>
    <ConfirmMenu
      label="Remove"
      subject={name}
      action={form}
      formToken={formToken}
      fields={{ id: String(id) }}
      button={`Remove ${name}`}
    >
      <p>Signatures by it are not shown as yours any more.</p>
    </ConfirmMenu>
  </li>
);

interface GpgProofProps {
  keyId: string;
  /** The text whose signature proves that its signer has the key. */
  token: string;
  formToken: string;
  /** The form of any key, as it was sent. */
  state: FormState;
}

/** The form that proves possession of a key, whatever addresses it names. */
function GpgProof({ keyId, token, formToken, state }: GpgProofProps) {
  const command = `echo ${token} | gpg --armor --local-user ${keyId} --detach-sign`;
  const name = `signature-${keyId}`;
  const isSent = state.of("key_id").value === keyId;
  const { value = "", fault } = isSent ? state.of("signature") : {};
  return (
    <details open={isSent}>
      <summary>
        Verify<span class="hidden">{` ${keyId}`}</span>
      </summary>
      <p>Run this within two minutes, and paste what it prints:</p>
      <p class="secret">{command}</p>
      <CopyButton text={command} />
      <Form action={`${PATH}/gpg/verify`} formToken={formToken}>
        <input type="hidden" name="key_id" value={keyId} />
        <div class="field">
          <label for={name}>Signature</label>
          <textarea
            id={name}
            name="signature"
            required
            rows={4}
            spellcheck={false}
            aria-invalid={fault === undefined ? undefined : "true"}
            aria-describedby={fault === undefined ? undefined : `${name}-fault`}
          >{`\n${value}`}</textarea>
          <Fault id={`${name}-fault`} text={fault} />
        </div>
        <button type="submit">Verify</button>
      </Form>
    </details>
  );
}
