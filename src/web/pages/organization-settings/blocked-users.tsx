import { createBlock, deleteBlock, listBlocked } from "../../../domain/people/accounts/block.ts";
import { findSeenAccount } from "../../../domain/people/accounts/find-account.ts";
import { invalidField } from "../../../lib/failure.ts";
import { accountPath } from "../addresses.ts";
import { Avatar } from "../avatar.tsx";
import { Field } from "../layout.tsx";
import { ActionForm } from "../owner-settings/settings-frame.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { ORG_SETTINGS, type OrganizationSettingsPart } from "./page.tsx";

const PAGE_SIZE = 50;
const CHARS_MAX = { name: 40, note: 255 };

/** The users that an organization blocks. */
export const blockedUsers: OrganizationSettingsPart = {
  path: `${ORG_SETTINGS}/blocked_users`,
  async show(page, forms, c) {
    const { ctx, account, path } = page;
    const list = readListPage(c, PAGE_SIZE);
    const { items, total } = await listBlocked(ctx, account, list);
    const to = `${path}/blocked_users`;
    const state = forms.of("block");
    return {
      title: "Blocked users",
      link: "/blocked_users",
      body: (
        <section class="card" aria-label="Blocked users">
          <p>{total === 0 ? "Nobody is blocked." : `${total} in all, latest first.`}</p>
          <ul class="list">
            {items.map((user) => (
              <li>
                <div class="grow">
                  <Avatar account={user} size={24} />
                  <a href={accountPath(user)}>{user.name}</a>
                </div>
                <ActionForm page={page} to={to} action="unblock" fields={{ name: user.name }}>
                  <button type="submit">
                    Unblock<span class="hidden">{` ${user.name}`}</span>
                  </button>
                </ActionForm>
              </li>
            ))}
          </ul>
          <Pager url={c.req.url} page={list} total={total} />
          <h3>Block a user</h3>
          <p class="soft">
            They can't star, watch, fork or comment on what the organization owns. Members can't be
            blocked.
          </p>
          <ActionForm page={page} to={to} action="block">
            <Field
              label="User"
              {...state.of("blockee")}
              maxlength={CHARS_MAX.name}
              autocomplete="off"
            />
            <Field
              label="Note for the owners"
              {...state.of("note")}
              maxlength={CHARS_MAX.note}
              isOptional
            />
            <button type="submit" class="danger">
              Block
            </button>
          </ActionForm>
        </section>
      ),
    };
  },
  actions: {
    async block({ ctx, account, path }, form) {
      const user = await findSeenAccount(ctx, form.line("blockee", CHARS_MAX.name));
      if (!user) throw invalidField("blockee", "must be the name of a user");
      await createBlock(ctx, account, user, form.line("note", CHARS_MAX.note));
      return `${path}/blocked_users`;
    },
    async unblock({ ctx, account, path }, form) {
      await deleteBlock(ctx, account, form.line("name", CHARS_MAX.name));
      return `${path}/blocked_users`;
    },
  },
  fieldOf: (message) => (/block/.test(message) ? "blockee" : undefined),
};
