import { Hono } from "hono";
import type { PropsWithChildren } from "hono/jsx";

import type { User } from "../../../db/schema/index.ts";
import { listAllAccountsIn } from "../../../domain/people/accounts/list-accounts.ts";
import { findMember } from "../../../domain/people/orgs/find-member.ts";
import { findTeamNamed } from "../../../domain/people/orgs/find-team.ts";
import { listMembers } from "../../../domain/people/orgs/list-members.ts";
import { listTeams } from "../../../domain/people/orgs/list-teams.ts";
import { listNamedTeamRepositories } from "../../../domain/repos/repository/list-repositories.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { AccountList } from "../account-list.tsx";
import { Icon } from "../icon.tsx";
import { Form } from "../layout.tsx";
import { requireOwn } from "../open-page.ts";
import { Pager, readListPage } from "../pager.tsx";
import { RepositoryList } from "../repository-list.tsx";
import { type AccountPage, enterOrganizationPage } from "./enter.ts";
import { renderAccount } from "./frame.tsx";

const PAGE_SIZE = 40;

/** The pages of an organization's members and teams. */
export const organizationPages = new Hono<WebEnv>();

organizationPages.get("/org/:org/members", async (c) => {
  const page = await enterOrganizationPage(c);
  const { ctx, account, membership } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { user } = ctx.actor;
  const [{ items, total }, own] = await Promise.all([
    listMembers(ctx, account, membership, list),
    user && membership.isMember ? findMember(ctx, account, user.name) : undefined,
  ]);
  return renderAccount(
    c,
    page,
    { tab: "members", title: `Members - ${account.name}` },
    <>
      <h2>{`${total} member${total === 1 ? "" : "s"}`}</h2>
      {membership.isOwner ? (
        <p class="soft">
          People become members with their first <a href={`/org/${account.name}/teams`}>team</a>.
        </p>
      ) : undefined}
      {own ? <OwnMembership page={page} isPublic={own.isPublic} /> : undefined}
      <AccountList
        accounts={items}
        empty="No member of this organization is public."
        more={membership.isOwner ? (member) => <Removal page={page} member={member} /> : undefined}
      />
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

interface MembershipProps {
  page: AccountPage;
  action: "remove" | "leave" | "public" | "private";
}

/** A form about a membership in the organization. */
function MembershipForm({ page, action, children }: PropsWithChildren<MembershipProps>) {
  const path = `/org/${page.account.name}/members/action`;
  return (
    <Form action={path} formToken={page.formToken} class="inline">
      <input type="hidden" name="action" value={action} />
      {children}
    </Form>
  );
}

/** What a member does with their own membership. */
function OwnMembership({ page, isPublic }: { page: AccountPage; isPublic: boolean }) {
  return (
    <div class="row">
      <MembershipForm page={page} action={isPublic ? "private" : "public"}>
        <button type="submit" class="small">
          {isPublic ? "Hide your membership" : "Show your membership to everybody"}
        </button>
      </MembershipForm>
      <details class="menu">
        <summary class="button small">Leave</summary>
        <div class="menu-body">
          <p>You leave all teams of the organization.</p>
          <MembershipForm page={page} action="leave">
            <button type="submit" class="danger">{`Leave ${page.account.name}`}</button>
          </MembershipForm>
        </div>
      </details>
    </div>
  );
}

/** The form by which an owner removes a member. */
function Removal({ page, member: { name } }: { page: AccountPage; member: User }) {
  return (
    <details class="menu end">
      <summary class="button small">
        Remove<span class="hidden">{` ${name}`}</span>
      </summary>
      <div class="menu-body">
        <p>From the organization, and all of its teams.</p>
        <MembershipForm page={page} action="remove">
          <input type="hidden" name="member" value={name} />
          <button type="submit" class="danger">{`Remove ${name}`}</button>
        </MembershipForm>
      </div>
    </details>
  );
}

organizationPages.get("/org/:org/teams", async (c) => {
  const page = await enterOrganizationPage(c);
  requireOwn(c, page);
  const { ctx, account, membership } = page;
  if (!membership.isMember) throw notFound();
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listTeams(ctx, account, list);
  return renderAccount(
    c,
    page,
    { tab: "teams", title: `Teams - ${account.name}` },
    <>
      <div class="code-bar">
        <h2 class="grow">{`${total} team${total === 1 ? "" : "s"}`}</h2>
        {membership.isOwner ? (
          <a class="button primary" href={`/org/${account.name}/teams/new`}>
            New team
          </a>
        ) : undefined}
      </div>
      <ul class="box commits">
        {items.map(({ team }) => (
          <li>
            <div class="grow">
              <Icon name="people" />
              <a href={`/org/${account.name}/teams/${encodeURIComponent(team.name)}`}>
                {team.name}
              </a>
              {team.description === "" ? undefined : <div class="soft">{team.description}</div>}
            </div>
          </li>
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

organizationPages.get("/org/:org/teams/:team", async (c) => {
  const page = await enterOrganizationPage(c);
  requireOwn(c, page);
  const { ctx, account, membership } = page;
  if (!membership.isMember) throw notFound();
  const named = { orgId: account.id, name: c.req.param("team").toLowerCase() };
  const list = readListPage(c, PAGE_SIZE);
  // In parallel, to save a round trip: `findTeamNamed` throws for readers who may not see the team.
  const [team, members, repositories] = await Promise.all([
    findTeamNamed(ctx, named),
    listAllAccountsIn(ctx, { membersOfTeamNamed: named }, list),
    listNamedTeamRepositories(ctx, named, list),
  ]);
  const total = Math.max(members.total, repositories.total);
  const path = `/org/${account.name}/teams/${encodeURIComponent(team.name)}`;
  return renderAccount(
    c,
    page,
    { tab: "teams", title: `${team.name} - ${account.name}` },
    <>
      <div class="code-bar">
        <h2 class="grow">{team.name}</h2>
        {membership.isOwner ? (
          <a class="button" href={`${path}/edit`}>
            Edit team
          </a>
        ) : undefined}
      </div>
      {team.description === "" ? undefined : <p>{team.description}</p>}
      <div class="code-bar">
        <h3 class="grow">{`${members.total} member${members.total === 1 ? "" : "s"}`}</h3>
        {membership.isOwner ? (
          <a class="button small" href={`${path}/edit#members`}>
            Add or remove<span class="hidden"> members</span>
          </a>
        ) : undefined}
      </div>
      <AccountList accounts={members.items} empty="There is nobody here." />
      <h3>{`${repositories.total} ${repositories.total === 1 ? "repository" : "repositories"}`}</h3>
      <RepositoryList
        repositories={repositories.items}
        now={ctx.now}
        empty="This team has no repository."
      />
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});
