import type { Context } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { requireWritable } from "../../../domain/code/git/require-writable.ts";
import { toWiki } from "../../../domain/code/wiki/to-wiki.ts";
import { notFound } from "../../../lib/failure.ts";
import { requestPath } from "../../../lib/request-path.ts";
import { canonicalAddress, HOME } from "../../../shapes/wiki/wiki-path.ts";
import type { WebEnv } from "../../env.ts";
import { requireCookie, requireOwn } from "../open-page.ts";
import { enterRepositoryPage, type EnteredRepository } from "../repository/enter.ts";

/** A page of a wiki, with its reader. */
export interface EnteredWiki extends EnteredRepository {
  /** The address that the path names; that of the first page if it names none. */
  readonly address: string;
  /** Whether the path names a page. */
  readonly isNamed: boolean;
}

type Work = (c: Context<WebEnv>, page: EnteredWiki) => Promise<Response>;

/**
 * A handler of a page of a wiki, for its readers. A wiki elsewhere is redirected to.
 *
 * Cost: one round trip of the database.
 */
export const forReaders =
  (work: Work) =>
  async (c: Context<WebEnv>): Promise<Response> => {
    const page = await enterRepositoryPage(c, { mode: "read" });
    const { repo } = page;
    const isElsewhere = isUnitOn(repo.row, "ext_wiki");
    if (isElsewhere && isAllowed(repo, { unit: "ext_wiki", mode: "read" })) {
      return c.redirect(repo.row.externalWikiUrl, 303);
    }
    requireWikiRead(page);
    return work(c, toEntered(c, page));
  };

/** Enters a wiki for who may change it now. Who is not signed in is led to the sign-in. */
export async function enterToChange(c: Context<WebEnv>): Promise<EnteredWiki> {
  requireCookie(c);
  const page = await enterRepositoryPage(c, { mode: "read" }, ["write:repository"]);
  requireWikiRead(page);
  requireOwn(c, page);
  if (!isAllowed(page.repo, { unit: "wiki", mode: "write" })) throw notFound();
  requireWritable(toWiki(page.repo));
  return toEntered(c, page);
}

/** Whether the reader may change the wiki now. */
export const canChange = ({ ctx, repo }: EnteredRepository): boolean =>
  ctx.actor.user !== undefined &&
  repo.row.archivedAt === null &&
  !repo.row.isMirror &&
  isAllowed(repo, { unit: "wiki", mode: "write" });

/** A wiki that is switched off has no pages, not even for those who can switch it on. */
function requireWikiRead({ repo }: EnteredRepository): void {
  if (!isUnitOn(repo.row, "wiki")) throw notFound();
  if (!isAllowed(repo, { unit: "wiki", mode: "read" })) throw notFound();
}

function toEntered(c: Context<WebEnv>, page: EnteredRepository): EnteredWiki {
  const named = canonicalAddress(requestPath(c.req.url).split("/").slice(4).join("/"));
  return { ...page, address: named || HOME, isNamed: named !== "" };
}
