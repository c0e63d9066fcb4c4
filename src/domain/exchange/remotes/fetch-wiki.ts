import type { Ctx } from "../../../context.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { toWiki } from "../../code/wiki/to-wiki.ts";
import { type FetchSource, fetchRemote } from "./fetch-remote.ts";

/** How a remote refuses that has no wiki; some ask for credentials as for what is private. */
const HAS_NONE = new Set<RemoteFailure["kind"]>(["not_found", "unauthorized", "refused"]);

/**
 * The URL of the git data of a repository's wiki, which is the same on all forges that have one.
 *
 * @param url Of the repository, with and without `.git`.
 */
export const wikiUrlOf = (url: string): string =>
  `${url.replace(/\/+$/, "").replace(/\.git$/i, "")}.wiki.git`;

/**
 * Takes over the wiki of a remote, as `fetchRemote` its code. No event is recorded.
 *
 * @param prune Whether refs that the remote lacks are deleted here.
 * @returns False for a remote without a wiki; nothing is changed then.
 * @throws RemoteFailure as `fetchRemote`.
 */
export async function fetchWiki(
  ctx: Ctx,
  repo: RepositoryContext,
  remote: FetchSource,
  prune: boolean,
): Promise<boolean> {
  try {
    const plan = { prune, isFirst: true };
    const { head } = await fetchRemote(ctx, toWiki(repo), remote, plan);
    return head !== undefined;
  } catch (error) {
    if (error instanceof RemoteFailure && HAS_NONE.has(error.kind)) return false;
    throw error;
  }
}
