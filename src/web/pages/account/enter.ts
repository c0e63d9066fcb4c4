import type { Context } from "hono";

import type { User } from "../../../db/schema/index.ts";
import type { PackageOwner } from "../../../domain/packages/package/find-package.ts";
import type { AccountFacts } from "../../../domain/repos/repository/account-facts.ts";
import { type Membership, toMembership } from "../../../domain/people/accounts/find-account.ts";
import { enterAccountForReader } from "../../../entrance/enter-account.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { type Page, readerRequest, toPublicPage } from "../open-page.ts";

/** The request of a page of an account, with its reader. */
export interface AccountPage extends Page {
  readonly account: User;
  /** The reader's roles in an organization. */
  readonly membership: Membership;
  readonly facts: AccountFacts;
  /** The account as the owner of packages. */
  readonly owner: PackageOwner;
}

/**
 * Enters the account of a page's path, `/:name`, for the reader of the page.
 *
 * Cost: one round trip of the database.
 *
 * @throws Failure as `enterAccount` does.
 */
export const enterAccountPage = (c: Context<WebEnv>): Promise<AccountPage> =>
  enter(c, c.req.param("name") ?? "", accountPath);

/**
 * Enters the organization of a page's path, `/org/:org/…`.
 *
 * @throws Failure as `enterAccount` does, and `not_found` for a user.
 */
export async function enterOrganizationPage(c: Context<WebEnv>): Promise<AccountPage> {
  const rest = c.req.path.split("/").slice(3).join("/");
  const page = await enter(c, c.req.param("org") ?? "", ({ name }) => `/org/${name}/${rest}`);
  if (page.account.kind !== "organization") throw notFound();
  return page;
}

async function enter(
  c: Context<WebEnv>,
  name: string,
  pathAt: (renamed: User) => string,
): Promise<AccountPage> {
  const target = { name, scopes: [], anonymous: "by-setting", pathAt } as const;
  const entered = await enterAccountForReader(readerRequest(c), target);
  const { ctx, account, facts, owner } = entered;
  const membership = toMembership(ctx.actor, entered);
  const page = await toPublicPage(c, ctx, entered.unreadCount);
  return { ...page, account, membership, facts, owner };
}
