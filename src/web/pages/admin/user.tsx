import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { Badge, EmailAddress, PublicKey, User } from "../../../db/schema/index.ts";
import { deleteUser } from "../../../domain/operations/deletions/delete-user.ts";
import { listEmails } from "../../../domain/people/accounts/emails.ts";
import { findUserById } from "../../../domain/people/accounts/find-user-by-id.ts";
import { renameAccount } from "../../../domain/people/accounts/rename-account.ts";
import { deleteAvatar } from "../../../domain/people/avatars/change-avatar.ts";
import {
  addUserBadges,
  listUserBadges,
  removeUserBadges,
} from "../../../domain/people/badges/user-badges.ts";
import { listUserKeys } from "../../../domain/people/keys/list-ssh-keys.ts";
import { addUserKey, removeUserKey } from "../../../domain/people/keys/ssh-keys.ts";
import { removeSecondFactors } from "../../../domain/people/second-factors/remove-second-factors.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { Avatar } from "../avatar.tsx";
import { ConfirmMenu } from "../confirm-menu.tsx";
import { CheckField, GeneralFault, AreaField } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import { readId } from "../read-id.ts";
import { Time } from "../time.tsx";
import { ADMIN_PATH, changeAsAdmin, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";
import { quotaPath } from "./quota.tsx";
import { stateOf, USERS_PATH } from "./users.tsx";

/** Keys and badges that the page lists; the API lists all. */
const LISTED = { size: 100, offset: 0 };
const TITLE_CHARS_MAX = 255;
const FIELDS = ["new_username", "title", "key", "slug", "confirm_name"];

/** The page of a user for administrators, with what they do to the account. */
export const user = new Hono<WebEnv>({ router: new TrieRouter() });

user.get(`${USERS_PATH}/:id`, async (c) =>
  renderUser(c, await openAdminPage(c), FormState.fresh()),
);

/** Does what a form asks for. @returns The path to which it leads, if not the page itself. */
type Action = (page: OwnPage, account: User, form: SentForm) => Promise<string | void>;

/** The actions by the last part of the address of their forms. */
const ACTIONS: Readonly<Record<string, Action>> = {
  rename: ({ ctx }, account, form) => renameAccount(ctx, account, form.line("new_username", 40)),
  "avatar/delete": ({ ctx }, account) => deleteAvatar(ctx, { kind: "account", account }),
  "keys/add": async ({ ctx }, account, form) => {
    const title = form.line("title", TITLE_CHARS_MAX);
    if (title === "") throw invalidField("title", "must not be empty");
    await addUserKey(ctx, account, title, form.text("key").trim());
  },
  "keys/remove": ({ ctx }, account, form) => removeUserKey(ctx, account, readId(form.text("id"))),
  "badges/add": ({ ctx }, account, form) => addUserBadges(ctx, account, [form.line("slug", 50)]),
  "badges/remove": ({ ctx }, account, form) =>
    removeUserBadges(ctx, account, [form.line("slug", 50)]),
  second_factors: ({ ctx }, account) => removeSecondFactors(ctx, account),
  delete: async ({ ctx }, account, form) => {
    if (form.text("confirm_name").trim() !== account.name) {
      throw invalidField("confirm_name", "must be the name of the user");
    }
    await deleteUser(ctx, account, { isPurge: form.isSet("purge") });
    return `${USERS_PATH}?deleted=1`;
  },
};

for (const [name, action] of Object.entries(ACTIONS)) {
  user.post(`${USERS_PATH}/:id/${name}`, (c) =>
    changeAsAdmin(
      c,
      async (page, form) => {
        const account = await findUserById(page.ctx, readId(c.req.param("id") ?? ""));
        return (await action(page, account, form)) ?? `${USERS_PATH}/${account.id}`;
      },
      (page, state) => renderUser(c, page, state),
    ),
  );
}

async function renderUser(c: Context<WebEnv>, page: OwnPage, state: FormState): Promise<Response> {
  const { ctx } = page;
  const id = readId(c.req.param("id") ?? "");
  const [account, emails, keys, badges] = await Promise.all([
    findUserById(ctx, id),
    listEmails(ctx, { id }),
    listUserKeys(ctx, { id }, { fingerprint: "" }, LISTED),
    listUserBadges(ctx, { id }, LISTED),
  ]);
  const props = { page, account, state, path: `${USERS_PATH}/${account.id}` };
  return renderAdmin(
    c,
    page,
    { part: "users", title: account.name, status: state.refusal?.status ?? 200 },
    <>
      <GeneralFault state={state} fields={FIELDS} />
      <Facts {...props} emails={emails} />
      <Keys {...props} keys={keys.items} />
      <Badges {...props} badges={badges.items} />
      <Name {...props} />
      <Deletion {...props} />
    </>,
  );
}

interface PartProps {
  page: OwnPage;
  account: User;
  state: FormState;
  /** Of the page. */
  path: string;
}

function Facts({ page, account, path, emails }: PartProps & { emails: readonly EmailAddress[] }) {
  return (
    <section class="card" aria-labelledby="account">
      <h2 id="account">
        <Avatar account={account} size={32} /> {account.name}
      </h2>
      <table class="rows">
        <tbody>
          <tr>
            <th scope="row">Page</th>
            <td>
              <a href={accountPath(account)}>{accountPath(account)}</a>
            </td>
          </tr>
          <tr>
            <th scope="row">Full name</th>
            <td>{account.fullName}</td>
          </tr>
          <tr>
            <th scope="row">Addresses</th>
            <td>
              {emails.map(({ email, isPrimary, isActivated }) => (
                <div>
                  {email}{" "}
                  <span class="soft">
                    {[isPrimary ? "primary" : "", isActivated ? "" : "not confirmed"]
                      .filter((word) => word !== "")
                      .join(", ")}
                  </span>
                </div>
              ))}
            </td>
          </tr>
          <tr>
            <th scope="row">State</th>
            <td>{stateOf(account) || "a user"}</td>
          </tr>
          <tr>
            <th scope="row">Created</th>
            <td>
              <Time at={account.createdAt} />
            </td>
          </tr>
          <tr>
            <th scope="row">Last sign-in</th>
            <td>
              {account.lastLoginAt === null ? "never" : <Time at={account.lastLoginAt} />}
              {", "}
              <a href={`${ADMIN_PATH}/audit?owner=${encodeURIComponent(account.name)}`}>log</a>
            </td>
          </tr>
        </tbody>
      </table>
      <p class="row">
        <a class="button" href={`${path}/edit`}>
          Edit
        </a>
        <a class="button" href={quotaPath(account)}>
          Quota
        </a>
        <a class="button" href={`/repo/create?owner=${encodeURIComponent(account.name)}`}>
          New repository
        </a>
        <a class="button" href={`/org/create?owner=${encodeURIComponent(account.name)}`}>
          New organization
        </a>
      </p>
      {account.avatarHash === "" ? undefined : (
        <Form action={`${path}/avatar/delete`} formToken={page.formToken}>
          <button type="submit">Remove the avatar</button>
        </Form>
      )}
      {account.hasTotp || account.hasWebauthn ? (
        <ConfirmMenu
          label="Remove the second factors"
          subject={`of ${account.name}`}
          action={`${path}/second_factors`}
          formToken={page.formToken}
          button="Remove the second factors"
        >
          <p>
            For a user who lost the app, the keys and the recovery codes. All of their sessions end.
          </p>
        </ConfirmMenu>
      ) : undefined}
    </section>
  );
}

function Keys({ page, state, path, keys }: PartProps & { keys: readonly PublicKey[] }) {
  return (
    <section class="card form" aria-labelledby="keys">
      <h2 id="keys">SSH keys</h2>
      <ul class="list">
        {keys.map(({ id, title, fingerprint }) => (
          <li>
            <div class="grow">
              {title}
              <div class="soft">{fingerprint}</div>
            </div>
            <ConfirmMenu
              label="Remove"
              subject={title}
              action={`${path}/keys/remove`}
              formToken={page.formToken}
              fields={{ id: String(id) }}
              button={`Remove ${title}`}
            >
              <p>Signatures by it are not shown as the user's any more.</p>
            </ConfirmMenu>
          </li>
        ))}
      </ul>
      <Form action={`${path}/keys/add`} formToken={page.formToken}>
        <Field label="Title" {...state.of("title")} maxlength={TITLE_CHARS_MAX} />
        <AreaField state={state} label="Public key" name="key" />
        <button type="submit">Add SSH key</button>
      </Form>
    </section>
  );
}

function Badges({ page, state, path, badges }: PartProps & { badges: readonly Badge[] }) {
  return (
    <section class="card form" aria-labelledby="badges">
      <h2 id="badges">Badges</h2>
      <ul class="list">
        {badges.map(({ slug, description }) => (
          <li>
            <div class="grow">
              <code>{slug}</code> {description}
            </div>
            <Form action={`${path}/badges/remove`} formToken={page.formToken}>
              <input type="hidden" name="slug" value={slug} />
              <button type="submit">
                Take away<span class="hidden">{` ${slug}`}</span>
              </button>
            </Form>
          </li>
        ))}
      </ul>
      <Form action={`${path}/badges/add`} formToken={page.formToken}>
        <Field label="Slug of a badge" {...state.of("slug")} maxlength={50} autocomplete="off" />
        <button type="submit">Give badge</button>
      </Form>
    </section>
  );
}

const Name = ({ page, account, state, path }: PartProps) => (
  <section class="card form" aria-labelledby="name">
    <h2 id="name">Name</h2>
    <p>The old name leads to the new one until somebody takes it.</p>
    <Form action={`${path}/rename`} formToken={page.formToken}>
      <Field
        label="User name"
        name="new_username"
        value={state.valueOf("new_username", account.name)}
        fault={state.of("new_username").fault}
        maxlength={40}
        autocomplete="off"
      />
      <button type="submit">Rename</button>
    </Form>
  </section>
);

const Deletion = ({ page, account, state, path }: PartProps) => (
  <section class="card form" aria-labelledby="deletion">
    <h2 id="deletion">Deletion</h2>
    <p>
      Without a purge, a user who owns repositories or packages, or belongs to organizations, is not
      deleted. <a href="/docs/administration#deleting-an-account">What goes and what stays</a>.
    </p>
    <Form action={`${path}/delete`} formToken={page.formToken}>
      <Field
        label="Name of the user"
        {...state.of("confirm_name")}
        autocomplete="off"
        hint={`${account.name}, so that nobody is deleted by mistake.`}
      />
      <CheckField
        state={state}
        label="Purge: with repositories, packages, memberships, comments, and organizations that nobody else owns"
        name="purge"
      />
      <button type="submit" class="danger">
        Delete the user
      </button>
    </Form>
  </section>
);
