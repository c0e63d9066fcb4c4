import type { ByteText } from "../../../../git/byte-text.ts";
import { isHiddenRef } from "../../../code/git/push-refs.ts";
import { fetchRemote } from "../../remotes/fetch-remote.ts";
import { fetchWiki } from "../../remotes/fetch-wiki.ts";
import type { ImportJob } from "../import-job.ts";

/** The head of a pull request, as this service calls it. */
const PULL_HEAD = /^refs\/pull\/[1-9][0-9]{0,9}\/head$/;

/** Refs that could not be taken which are noted. */
const SKIPPED_NOTES_MAX = 20;

/**
 * Takes branches, tags and other refs over. The project is read first: credentials that it does not
 * take would otherwise show only after the whole pack has come.
 *
 * An import that was continued takes refs that the repository lacks, and moves none: people here
 * may have pushed.
 */
export async function importGit(job: ImportJob): Promise<void> {
  const { ctx, repo, source } = job;
  const { options } = job.row;
  const project = await source.reader?.readProject();
  const isAdding = options.isRepeat === true && !repo.row.isMirror;
  const present = isAdding ? await listRefNames(job) : new Set<string>();
  // An archive has one pack: it is read once, with the heads of pull requests.
  const isLeftOut = (name: ByteText): boolean =>
    isHiddenRef(name) && !(source.openFile && PULL_HEAD.test(name));
  const fetched = await fetchRemote(ctx, repo, source.remote, {
    prune: false,
    isFirst: true,
    refs: (name) => (isLeftOut(name) || present.has(name) ? undefined : name),
  });
  for (const { ref, reason } of fetched.skipped.slice(0, SKIPPED_NOTES_MAX)) {
    job.note(`${ref} was left out: ${reason}`);
  }
  await importWiki(job, isAdding);
  const numbering = options.numbering ?? project?.numbering;
  await job.commit({
    ...job.nextStage(),
    progress: job.counted(fetched.updates.length),
    ...(numbering !== undefined && { options: { ...options, numbering } }),
  });
}

/**
 * Takes the wiki over, if it is asked for.
 *
 * @param isAdding Whether one that is here stays as it is.
 */
async function importWiki(job: ImportJob, isAdding: boolean): Promise<void> {
  const { ctx, repo, source } = job;
  if (!source.wiki || (isAdding && repo.row.wikiBranch !== "")) return;
  const isThere = await fetchWiki(ctx, repo, source.wiki, false);
  if (!isThere) job.note("there is no wiki, or it is not shown");
}

async function listRefNames({ ctx, repo }: ImportJob): Promise<ReadonlySet<string>> {
  const { refs } = await ctx.git.repository(repo.row).snapshot();
  return new Set<string>(refs.map(({ name }) => name));
}
