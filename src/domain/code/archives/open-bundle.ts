import type { Ctx } from "../../../context.ts";
import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import { type BundleRef, formatBundleHeader } from "../../../git/archive/bundle.ts";
import { planFetch } from "../../../git/walk/fetch-plan.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Revision } from "../git/find-revision.ts";
import { type RepositorySnapshot, findRef } from "../git/open-snapshot.ts";
import { sendPack } from "../git/send-pack.ts";

/** The branch name in a bundle that was requested by commit id. */
const COMMIT_BRANCH = "refs/heads/bundle" as ByteText;

/** Opens a bundle of a branch, tag or commit with its full history, which `git clone` accepts. */
export async function openBundle(
  ctx: Ctx,
  { row }: RepositoryContext,
  snapshot: RepositorySnapshot,
  revision: Revision,
): Promise<AsyncGenerator<Uint8Array>> {
  const { repository } = snapshot;
  const ref = toBundleRef(snapshot, revision);
  const plan = await planFetch(repository.graph, repository.catalog, repository.objects, {
    wantOids: [ref.oid],
    haveOids: [],
    clientShallowOids: [],
    cut: undefined,
    filter: undefined,
    tags: [],
    isThin: false,
  });
  // A clone of a bundle without HEAD would check out nothing.
  const head: BundleRef = { name: "HEAD" as ByteText, oid: revision.commitOid };
  const origin = { stored: ctx.git.repository(row), repository };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield formatBundleHeader([ref, head]);
    yield* sendPack(origin, plan, true);
  }
  return pieces();
}

function toBundleRef(snapshot: RepositorySnapshot, { kind, name, commitOid }: Revision): BundleRef {
  if (kind === "commit") return { name: COMMIT_BRANCH, oid: commitOid };
  const fullName = `refs/${kind === "tag" ? "tags" : "heads"}/${name}`;
  return { name: encodeText(fullName), oid: findRef(snapshot, fullName)?.oid ?? commitOid };
}
