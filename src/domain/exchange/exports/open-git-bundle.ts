import type { Ctx } from "../../../context.ts";
import { type ByteText } from "../../../git/byte-text.ts";
import { type BundleRef, formatBundleHeader } from "../../../git/archive/bundle.ts";
import { planFetch } from "../../../git/walk/fetch-plan.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { sendPack } from "../../code/git/send-pack.ts";

/** Trial merges of pull requests, which a repository makes anew. */
const MADE_ANEW = /^refs\/pull\/\d+\/merge$/;

/**
 * Opens a bundle of all refs with their whole history, which git clones and fetches from.
 *
 * @returns Undefined for a repository without refs: git knows no empty bundle.
 */
export async function openGitBundle(
  ctx: Ctx,
  { row }: RepositoryContext,
  { state, repository }: RepositorySnapshot,
): Promise<AsyncGenerator<Uint8Array> | undefined> {
  const refs = state.refs.filter(({ name }) => !MADE_ANEW.test(name));
  const listed: BundleRef[] = refs.map(({ name, oid }) => ({ name: name as ByteText, oid }));
  if (listed.length === 0) return undefined;
  const head = listed.find(({ name }) => name === state.head);
  const plan = await planFetch(repository.graph, repository.catalog, repository.objects, {
    wantOids: [...new Set(listed.map(({ oid }) => oid))],
    haveOids: [],
    clientShallowOids: [],
    cut: undefined,
    filter: undefined,
    tags: [],
    isThin: false,
  });
  const origin = { stored: ctx.git.repository(row), repository };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    // A clone of a bundle without HEAD checks out nothing.
    yield formatBundleHeader([
      ...(head ? [{ name: "HEAD" as ByteText, oid: head.oid }] : []),
      ...listed,
    ]);
    yield* sendPack(origin, plan, true);
  }
  return pieces();
}
