import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { ACCESS, type User } from "../../../db/schema/index.ts";
import { findMembership } from "../../../domain/people/accounts/find-account.ts";
import {
  listOwnMemberships,
  type OwnMembership,
} from "../../../domain/people/orgs/list-own-memberships.ts";
import { removeMember, setMembershipVisibility } from "../../../domain/people/orgs/team-members.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { Avatar } from "../avatar.tsx";
import { ConfirmMenu } from "../confirm-menu.tsx";
import type { Form as SentForm } from "../form.ts";
import { Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import type { Refusal } from "../or-refuse.ts";
import { Pager, readListPage } from "../pager.tsx";
import { changeOwn } from "./change-own.ts";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/organization";
const PAGE_SIZE = 50;

/** The organizations of the reader. */
export const organizations = new Hono<WebEnv>({ router: new TrieRouter() });

organizations.get(PATH, async (c) => renderOrganizations(c, await openOwnPage(c)));

organizations.post(`${PATH}/leave`, (c) =>
  change(c, ({ ctx, user }, org) => removeMember(ctx, org, user)),
);

organizations.post(`${PATH}/visibility`, (c) =>
  change(c, ({ ctx, user }, org, form) =>
    setMembershipVisibility(ctx, org, user, form.text("visibility") === "public"),
  ),
);

/** @throws Failure `not_found` for an organization to which the reader does not belong. */
const change = (
  c: Context<WebEnv>,
  work: (page: OwnPage, org: User, form: SentForm) => Promise<void>,
): Promise<Response> =>
  changeOwn(
    c,
    async (page, form) => {
      const found = await findMembership(page.ctx, form.text("org"));
      if (!found?.membership.isMember) throw notFound();
      await work(page, found.account, form);
      return PATH;
    },
    (page, { refusal }) => renderOrganizations(c, page, refusal),
  );

async function renderOrganizations(c: Context<WebEnv>, page: OwnPage, refusal?: Refusal) {
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listOwnMemberships(page.ctx, page.user, list);
  return renderSettings(
    c,
    page,
    { part: "organization", refusal },
    <section class="card" aria-labelledby="organizations">
      <h2 id="organizations">Organizations</h2>
      {total === 0 ? <p>You belong to no organization.</p> : undefined}
      <ul class="list">
        {items.map((membership) => (
          <Membership membership={membership} formToken={page.formToken} />
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
      {page.user.canCreateOrganization ? (
        <a class="button" href="/org/create">
          New organization
        </a>
      ) : undefined}
    </section>,
  );
}

interface MembershipProps {
  membership: OwnMembership;
  formToken: string;
}

const Membership = ({ membership: { org, rights }, formToken }: MembershipProps) => (
  <li>
    <Avatar account={org} size={32} />
    <div class="grow">
      <a href={accountPath(org)}>{org.name}</a>
      <div class="soft">
        {rights.access === ACCESS.owner ? "You own it. " : "You are a member. "}
        {rights.isPublic ? "Everybody who sees it sees that." : "Only its members see that."}
      </div>
    </div>
    <Form action={`${PATH}/visibility`} formToken={formToken}>
      <input type="hidden" name="org" value={org.name} />
      <input type="hidden" name="visibility" value={rights.isPublic ? "private" : "public"} />
      <button type="submit">
        {rights.isPublic ? "Hide" : "Show"}
        <span class="hidden">{` the membership in ${org.name}`}</span>
      </button>
    </Form>
    <ConfirmMenu
      label="Leave"
      subject={org.name}
      action={`${PATH}/leave`}
      formToken={formToken}
      fields={{ org: org.name }}
      button={`Leave ${org.name}`}
    >
      <p>You leave all of its teams, and lose what they may see and do.</p>
    </ConfirmMenu>
  </li>
);
