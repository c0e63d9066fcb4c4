import type { ForeignPull } from "../../../../forges/forge.ts";
import { encodeText, type ByteText } from "../../../../git/byte-text.ts";
import { NO_NODE } from "../../../../git/walk/commit-graph.ts";
import type { RepositorySnapshot } from "../../../code/git/open-snapshot.ts";
import { pushRefs } from "../../../code/git/push-refs.ts";
import { toCommand } from "../../../code/git/ref-update-request.ts";
import { headRefOf, headUpdate } from "../../../pulls/pull/open-pull.ts";
import { fetchRemote } from "../../remotes/fetch-remote.ts";
import type { ImportJob } from "../import-job.ts";
import { takenNumbers } from "../write/issues.ts";
import { inParts, withoutRepeats, withoutSharedNumbers } from "../write/page.ts";
import { takePulls, toPullColumns, toPullRow } from "../write/pulls.ts";
import { pullUpdates } from "../write/update-items.ts";

/**
 * Takes the next page of pull requests. Their heads come first: a pull request is never visible
 * without the commits that the other side still has.
 */
export async function importPulls(job: ImportJob): Promise<void> {
  const { reader } = job.source;
  if (!reader || !job.includes("pulls")) {
    await job.commit(job.nextStage());
    return;
  }
  const { since } = job.row.options;
  const page = await reader.readPage("pulls", job.row.cursor ?? undefined, {
    includesIssues: job.includes("issues"),
    includesPulls: true,
    ...(since !== undefined && { since }),
  });
  for (const sentence of page.leftOut ?? []) job.note(sentence);
  const items = withoutSharedNumbers(job, withoutRepeats(page.items));
  await fetchHeads(job, items);
  const snapshot = await openStored(job);
  await keepHeads(job, snapshot, items);
  const rows = items.map((item) => toPullRow(job, item, toPullColumns(job, snapshot, item)));
  for (const row of rows) {
    if (snapshot.repository.graph.find(row.headOid) !== NO_NODE) continue;
    job.note(`the commits of pull request ${row.number} are gone there: it has no changes`);
  }
  for (const { number } of await takenNumbers(job, rows)) {
    job.note(`pull request ${number} was left out: the repository has an issue with this number`);
  }
  const parts = inParts(rows).map((part) => [pullUpdates(job, part), takePulls(job, part)].flat());
  for (const part of parts.slice(0, -1)) await job.commit({}, { items: part });
  const progress = job.counted(page.items.length, page.total);
  const at = page.next === undefined ? job.nextStage() : { cursor: page.next };
  await job.commit({ ...at, progress }, { items: parts.at(-1) ?? [] });
}

/** Fetches the heads of a page of pull requests as the service's own refs. */
async function fetchHeads({ ctx, repo, source }: ImportJob, items: readonly ForeignPull[]) {
  const names = new Map<ByteText, ByteText>();
  for (const { headRef, number } of items) {
    if (headRef !== "") names.set(encodeText(headRef), encodeText(headRefOf(number)));
  }
  if (names.size === 0) return;
  await fetchRemote(ctx, repo, source.remote, {
    prune: false,
    isFirst: true,
    refs: (name) => names.get(name),
  });
}

async function openStored({ ctx, repo }: ImportJob): Promise<RepositorySnapshot> {
  const stored = ctx.git.repository(repo.row);
  const state = await stored.snapshot();
  return { state, repository: await stored.openByBlock(state) };
}

/** Keeps heads for which the other side has no ref, as far as branches and tags reach them. */
async function keepHeads(
  { ctx, repo }: ImportJob,
  own: RepositorySnapshot,
  items: readonly ForeignPull[],
): Promise<void> {
  const reachable = own.repository.reachableFrom(own.state);
  const commands = [];
  for (const { number, head, headRef } of items) {
    if (headRef !== "" || !/^[0-9a-f]{40}$/.test(head.oid)) continue;
    const update = headUpdate(own, number, head.oid);
    if (update && (await reachable.find(head.oid)) !== undefined) commands.push(toCommand(update));
  }
  if (commands.length === 0) return;
  await pushRefs(ctx, repo, {
    cause: "service",
    commands,
    isAtomic: false,
    repository: own.repository,
    reachable,
    uploadId: undefined,
    pack: undefined,
  });
}
