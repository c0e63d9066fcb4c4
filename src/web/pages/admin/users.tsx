import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { User } from "../../../db/schema/index.ts";
import { createUser } from "../../../domain/people/accounts/create-user.ts";
import { editUser } from "../../../domain/people/accounts/edit-user.ts";
import { findUserById } from "../../../domain/people/accounts/find-user-by-id.ts";
import {
  isUserStatus,
  listUsersOfStatus,
  searchUsers,
  type UserStatus,
} from "../../../domain/people/accounts/search-users.ts";
import type { WebEnv } from "../../env.ts";
import { Avatar } from "../avatar.tsx";
import { Count } from "../count.tsx";
import { FormState } from "../create/form-state.ts";
import { readForm } from "../form.ts";
import type { OwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { readSearchText } from "../read-search-text.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { Time } from "../time.tsx";
import { ADMIN_PATH, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";
import { SearchForm } from "./search-form.tsx";
import {
  readNewUser,
  readUserEdit,
  requireSeenUser,
  toUserFields,
  userFieldOf,
  UserForm,
} from "./user-form.tsx";

/** The path of the list of users. */
export const USERS_PATH = `${ADMIN_PATH}/users`;
const PAGE_SIZE = 50;

const STATUS_WORDS: Readonly<Record<UserStatus, string>> = {
  admin: "Administrators",
  inactive: "Not active",
  restricted: "Restricted",
  prohibited: "May not sign in",
};

/** The users of the service: their list, and the forms that create and edit one. */
export const users = new Hono<WebEnv>({ router: new TrieRouter() });

users.get(USERS_PATH, async (c) => {
  const page = await openAdminPage(c);
  const list = readListPage(c, PAGE_SIZE);
  const text = readSearchText(c);
  const requested = c.req.query("status") ?? "";
  const status = text === "" && isUserStatus(requested) ? requested : undefined;
  const { items, total } = status
    ? await listUsersOfStatus(page.ctx, status, list)
    : await searchUsers(page.ctx, text, undefined, list);
  return renderAdmin(
    c,
    page,
    {
      part: "users",
      done: c.req.query("deleted") === "1" ? "The account is deleted, step by step." : undefined,
    },
    <section class="card" aria-labelledby="users">
      <h2 id="users">
        Users{" "}
        <span class="label">
          <Count of={total} />
        </span>
      </h2>
      <SearchForm path={USERS_PATH} label="A part of the name or address" text={text}>
        <span class="pair">
          <label for="status">Or only</label>
          <select id="status" name="status">
            <option value="">All</option>
            {Object.entries(STATUS_WORDS).map(([name, label]) => (
              <option value={name} selected={name === status}>
                {label}
              </option>
            ))}
          </select>
        </span>
      </SearchForm>
      <div class="scroll" tabindex={0} role="region" aria-label="Users">
        <table class="rows">
          <thead>
            <tr>
              <th>User</th>
              <th>Address</th>
              <th>State</th>
              <th>Created</th>
              <th>Last sign-in</th>
            </tr>
          </thead>
          <tbody>
            {items.map((user) => (
              <tr>
                <th scope="row">
                  <Avatar account={user} size={20} />{" "}
                  <a href={`${USERS_PATH}/${user.id}`}>{user.name}</a>
                  {user.fullName === "" ? undefined : <div class="soft">{user.fullName}</div>}
                </th>
                <td>{user.email}</td>
                <td>{stateOf(user)}</td>
                <td>
                  <Time at={user.createdAt} />
                </td>
                <td>{user.lastLoginAt === null ? "never" : <Time at={user.lastLoginAt} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pager url={c.req.url} page={list} total={total} />
      <a class="button primary" href={`${USERS_PATH}/new`}>
        New user
      </a>
    </section>,
  );
});

/** The roles and restrictions of a user, in words. */
export const stateOf = (user: User): string =>
  [
    ...(user.isAdmin ? ["administrator"] : []),
    ...(user.isActive ? [] : ["not active"]),
    ...(user.isRestricted ? ["restricted"] : []),
    ...(user.isLoginProhibited ? ["may not sign in"] : []),
    ...(user.hasTotp || user.hasWebauthn ? ["second factor"] : []),
  ].join(", ");

users.get(`${USERS_PATH}/new`, async (c) =>
  renderCreation(c, await openAdminPage(c), FormState.fresh({ visibility: "public" })),
);

users.post(`${USERS_PATH}/new`, async (c) => {
  const form = await readForm(c);
  const page = await openAdminPage(c);
  return orRefuse(
    c,
    async () => {
      const { id } = await createUser(page.ctx, readNewUser(form));
      return redirectAfterWrite(c, `${USERS_PATH}/${id}`);
    },
    (refusal) => renderCreation(c, page, FormState.refused(form, refusal)),
    userFieldOf,
  );
});

const renderCreation = (c: Context<WebEnv>, page: OwnPage, state: FormState) =>
  renderAdmin(
    c,
    page,
    { part: "users", title: "New user", status: state.refusal?.status ?? 200 },
    <section class="card form" aria-labelledby="new-user">
      <h2 id="new-user">New user</h2>
      <UserForm
        action={`${USERS_PATH}/new`}
        formToken={page.formToken}
        passwordLengthMin={page.ctx.config.passwordLengthMin}
        state={state}
      />
    </section>,
  );

users.get(`${USERS_PATH}/:id/edit`, async (c) => {
  const page = await openAdminPage(c);
  const user = await findUserById(page.ctx, readId(c.req.param("id")));
  return renderEdit(c, page, user, FormState.fresh(toUserFields(user)));
});

users.post(`${USERS_PATH}/:id/edit`, async (c) => {
  const form = await readForm(c);
  const page = await openAdminPage(c);
  const user = await findUserById(page.ctx, readId(c.req.param("id")));
  return orRefuse(
    c,
    async () => {
      requireSeenUser(user, form);
      await editUser(page.ctx, user, readUserEdit(form));
      return redirectAfterWrite(c, `${USERS_PATH}/${user.id}`);
    },
    (refusal) => renderEdit(c, page, user, FormState.refused(form, refusal)),
    userFieldOf,
  );
});

const renderEdit = (c: Context<WebEnv>, page: OwnPage, user: User, state: FormState) =>
  renderAdmin(
    c,
    page,
    { part: "users", title: `Edit ${user.name}`, status: state.refusal?.status ?? 200 },
    <section class="card form" aria-labelledby="edit-user">
      <h2 id="edit-user">
        {"Edit "}
        <a href={`${USERS_PATH}/${user.id}`}>{user.name}</a>
      </h2>
      <UserForm
        action={`${USERS_PATH}/${user.id}/edit`}
        formToken={page.formToken}
        passwordLengthMin={page.ctx.config.passwordLengthMin}
        state={state}
        user={user}
      />
    </section>,
  );
