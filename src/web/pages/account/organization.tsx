import { Hono } from "hono";

import { listAllAccountsIn } from "../../../domain/people/accounts/list-accounts.ts";
import { findTeamNamed } from "../../../domain/people/orgs/find-team.ts";
import { listMembers } from "../../../domain/people/orgs/list-members.ts";
import { listTeams } from "../../../domain/people/orgs/list-teams.ts";
import { listNamedTeamRepositories } from "../../../domain/repos/repository/list-repositories.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { AccountList } from "../account-list.tsx";
import { Icon } from "../icon.tsx";
import { requireOwn } from "../open-page.ts";
import { Pager, readListPage } from "../pager.tsx";
import { RepositoryList } from "../repository-list.tsx";
import { enterOrganizationPage } from "./enter.ts";
import { renderAccount } from "./frame.tsx";

const PAGE_SIZE = 40;

/** The pages of an organization's members and teams. */
export const organizationPages = new Hono<WebEnv>();

organizationPages.get("/org/:org/members", async (c) => {
  const page = await enterOrganizationPage(c);
  const { ctx, account, membership } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listMembers(ctx, account, membership, list);
  return renderAccount(
    c,
    page,
    { tab: "members", title: `Members - ${account.name}` },
    <>
      <h2>{`${total} member${total === 1 ? "" : "s"}`}</h2>
      <AccountList accounts={items} empty="No member of this organization is public." />
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

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
      <h2>{`${total} team${total === 1 ? "" : "s"}`}</h2>
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
  return renderAccount(
    c,
    page,
    { tab: "teams", title: `${team.name} - ${account.name}` },
    <>
      <h2>{team.name}</h2>
      {team.description === "" ? undefined : <p>{team.description}</p>}
      <h3>{`${members.total} member${members.total === 1 ? "" : "s"}`}</h3>
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
