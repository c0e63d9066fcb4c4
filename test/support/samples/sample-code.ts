import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { codec } from "../../../src/storage/codec.ts";
import { History } from "../commits.ts";
import type { TestRepo } from "../make.ts";
import { storePush, storeRefs } from "../push.ts";

/**
 * Two branches at one commit with one file, an annotated tag of the commit, and a branch
 * `settings`.
 */
export async function storeSampleCode(repo: TestRepo, text = repo.name) {
  const history = new History();
  const oid = history.commit({ files: { file: text }, message: `${text}\n` });
  const settings = history.commit({ files: { ".editorconfig": "[*]\nindent_size = 2\n" } });
  const tagOid = history.tag(oid, "some/tag");
  const refs = [
    { ref: "refs/heads/main", oid },
    { ref: "refs/heads/some/branch", oid },
    { ref: "refs/heads/settings", oid: settings },
    { ref: "refs/tags/some/tag", oid: tagOid, peeledOid: oid },
  ];
  await storeRefs(repo, refs, history.build());
  const blobOid = new PackBuilder(codec).add("blob", encodeUtf8(text));
  return { oid, tagOid, blobOid };
}

/** The branch `main` of the sample code with one commit more. */
export async function storeSampleUpstream(repo: TestRepo, text: string): Promise<void> {
  const history = new History();
  const oid = history.commit({ files: { file: text }, message: `${text}\n` });
  const next = history.commit({ files: { file: text, next: text }, parents: [oid] });
  await storePush(repo, "refs/heads/main", next, history.build());
}

/** A branch with one commit on top of the sample code's. */
export async function storeSampleUpdate(
  repo: TestRepo,
  parent: string,
  branch: string,
): Promise<void> {
  const history = new History();
  const oid = history.commit({ files: { ahead: "Ahead\n" }, parents: [parent] });
  await storePush(repo, `refs/heads/${branch}`, oid, history.build());
}

/** A note on a commit, as `git notes add` stores it. */
export async function storeSampleNote(repo: TestRepo, commitOid: string): Promise<void> {
  const history = new History();
  const note = history.commit({ files: { [commitOid]: `A note on ${repo.name}\n` } });
  await storePush(repo, "refs/notes/commits", note, history.build());
}

/**
 * Builds a commit on top of the sample code's.
 *
 * @returns Its id, and what stores it as refs.
 */
export function makeSampleTopic(repo: TestRepo, parent: string, text = repo.name) {
  const history = new History();
  const files = { file: text, topic: "A topic\n" };
  const oid = history.commit({ files, parents: [parent], message: "Add a topic\n" });
  const store = async (...refs: string[]): Promise<void> =>
    storeRefs(
      repo,
      refs.map((ref) => ({ ref, oid })),
      history.build(),
    );
  return { oid, store };
}

export const SAMPLE_WORKFLOW_PATH = ".gitea/workflows/ci.yml";

/** The branch `main` with a workflow that is started by hand. */
export async function storeSampleWorkflow(repo: TestRepo): Promise<void> {
  const history = new History();
  const text = "name: CI\non: workflow_dispatch\njobs:\n  a: { runs-on: x, steps: [{ run: a }] }\n";
  const oid = history.commit({ files: { [SAMPLE_WORKFLOW_PATH]: text } });
  await storeRefs(repo, [{ ref: "refs/heads/main", oid }], history.build());
}
