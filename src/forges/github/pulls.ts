import { z } from "zod";

import { RemoteFailure } from "../../outgoing/remote-failure.ts";
import { draftTitleOf } from "../draft-title.ts";
import { flag, optionalShort, shortText, timeOrNull } from "../fields.ts";
import type { ForeignFilter, ForeignPage, ForeignPull } from "../forge.ts";
import { Account } from "./fields.ts";
import type { GitHubApi } from "./github-api.ts";
import { convertPage } from "./list-page.ts";
import { reactionCost, readReactions } from "./reactions.ts";
import { isPull, readThreads, type Thread, toThreadFields } from "./threads.ts";

const Side = z
  .object({
    ref: shortText,
    sha: z.string().regex(/^[0-9a-f]{40}$/),
    /** Null if it was deleted. */
    repo: z.object({ full_name: shortText }).nullish(),
  })
  .transform(({ ref, sha, repo }) => ({
    branch: ref,
    oid: sha,
    repository: repo?.full_name ?? "",
  }));

/**
 * The fields of a pull request besides its issue. They are read one by one, since lists don't name
 * the merger.
 *
 * @see https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
 */
const Pull = z.object({
  draft: flag,
  head: Side,
  base: Side,
  maintainer_can_modify: flag,
  merged_at: timeOrNull,
  merged_by: Account,
  merge_commit_sha: optionalShort,
});

/** Reads a page of pull requests, oldest first. */
export async function readPulls(
  api: GitHubApi,
  cursor: string | undefined,
  filter: ForeignFilter,
): Promise<ForeignPage<ForeignPull>> {
  return convertPage(
    await readThreads(api, cursor, filter),
    (thread) => (isPull(thread) ? 1 + reactionCost(thread.reactions) : 0),
    async (thread) => (isPull(thread) ? readPull(api, thread) : undefined),
  );
}

/** @returns Undefined if it is gone since the list was read. */
async function readPull(api: GitHubApi, thread: Thread): Promise<ForeignPull | undefined> {
  const pull = await findPull(api, thread.number);
  if (!pull) return undefined;
  const reactions = await readReactions(api, `/issues/${thread.number}`, thread.reactions);
  const fields = toThreadFields(thread, reactions);
  const isMerged = pull.merged_at !== null;
  return {
    kind: "pull",
    ...fields,
    title: draftTitleOf(fields.title, pull.draft),
    head: pull.head,
    base: pull.base,
    headRef: `refs/pull/${thread.number}/head`,
    // GitHub has the tip of the base, not the merge base.
    mergeBaseOid: "",
    allowMaintainerEdit: pull.maintainer_can_modify,
    mergedAt: pull.merged_at,
    merger: isMerged ? pull.merged_by : null,
    // Until it is merged, it names a commit that GitHub makes to find out whether it can be.
    mergeCommitOid: isMerged ? pull.merge_commit_sha : "",
  };
}

async function findPull(
  { client, path }: GitHubApi,
  number: number,
): Promise<z.infer<typeof Pull> | undefined> {
  try {
    return (await client.get(`${path}/pulls/${number}`, Pull)).value;
  } catch (error) {
    if (error instanceof RemoteFailure && error.kind === "not_found") return undefined;
    throw error;
  }
}
