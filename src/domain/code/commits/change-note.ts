import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { byteTextBytes, encodeText } from "../../../git/byte-text.ts";
import { NoteTree } from "../../../git/notes/note-tree.ts";
import { stripSpace } from "../../../git/object/strip-space.ts";
import type { Oid } from "../../../git/oid.ts";
import type { PackBuilder } from "../../../git/pack/pack-builder.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { conflict, invalid, invalidField, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import { commitChange } from "../git/commit-change.ts";
import { findRevision } from "../git/find-revision.ts";
import { makeCommit } from "../git/make-commit.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import { type RepositorySnapshot, findRef } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { type Note, NOTES_REF } from "./find-note.ts";

/** A written note and the repository snapshot that contains it. */
interface WrittenNote {
  readonly note: Note;
  readonly snapshot: RepositorySnapshot;
}

/**
 * Adds a note to a commit that has none, as `git notes add` does.
 *
 * @param revision A branch, tag or commit id.
 * @throws Failure `not_found` if the commit does not exist, `conflict` if it has a note or the
 * notes ref was updated concurrently, `invalid` for an empty message.
 */
export function createNote(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  revision: string,
  message: string,
): Promise<WrittenNote> {
  const content = cleanMessage(message);
  const subject = "Notes added by 'git notes add'";
  return changeNotes(ctx, repo, user, revision, subject, async (notes, key, pack) => {
    if (await notes.find(key)) throw conflict(`${key} has a note already`);
    await notes.put(key, pack.add("blob", content));
    return content;
  });
}

/**
 * Replaces the note on a commit, as `git notes edit` does.
 *
 * @throws Failure as `createNote`, but `not_found` if the commit has no note.
 */
export function updateNote(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  revision: string,
  message: string,
): Promise<WrittenNote> {
  const content = cleanMessage(message);
  const subject = "Notes added by 'git notes edit'";
  return changeNotes(ctx, repo, user, revision, subject, async (notes, key, pack) => {
    if (!(await notes.find(key))) throw notFound();
    await notes.put(key, pack.add("blob", content));
    return content;
  });
}

/**
 * Removes the note on a commit, as `git notes remove` does.
 *
 * @throws Failure `not_found` if the commit or its note does not exist, `conflict` if the notes ref
 * was updated concurrently.
 */
export async function deleteNote(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  revision: string,
): Promise<void> {
  const subject = "Notes removed by 'git notes remove'";
  await changeNotes(ctx, repo, user, revision, subject, async (notes, key) => {
    if (!(await notes.find(key))) throw notFound();
    await notes.remove(key);
    return new Uint8Array();
  });
}

function cleanMessage(message: string): Uint8Array {
  const text = stripSpace(encodeText(message));
  if (text === "") throw invalidField("message", "must not be empty");
  if (text.includes("\0") || !message.isWellFormed()) {
    throw invalidField("message", "must be Unicode text without NUL");
  }
  return byteTextBytes(text);
}

/**
 * Commits a change to the notes tree.
 *
 * @param subject The commit message, which is the one git itself uses for the change.
 */
async function changeNotes(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  revision: string,
  subject: string,
  change: (notes: NoteTree, key: Oid, pack: PackBuilder) => Promise<Uint8Array>,
): Promise<WrittenNote> {
  requireWritable(repo);
  const { result, snapshot } = await commitChange(ctx, repo, async ({ snapshot: base, pack }) => {
    const { graph, objects } = base.repository;
    const found = await findRevision(base, revision);
    if (!found) throw noSuchRef(base);
    const head = findRef(base, NOTES_REF)?.oid;
    const headNode = head === undefined ? NO_NODE : graph.find(head);
    if (head !== undefined && headNode === NO_NODE) throw invalid(`${NOTES_REF} is no commit`);
    const rootOid = headNode === NO_NODE ? undefined : await graph.loadRootOid(headNode);
    const notes = await NoteTree.open(objects, rootOid);
    const content = await change(notes, found.commitOid, pack);
    const treeOid = await notes.write((tree) => pack.add("tree", tree));
    const identity = toIdentity(ctx, user);
    const commit = await makeCommit(ctx, {
      treeOid,
      parentOids: head === undefined ? [] : [head],
      author: identity,
      committer: identity,
      message: encodeText(`${subject}\n`),
    });
    const to = pack.add("commit", commit);
    const update = { ref: NOTES_REF, ...(head !== undefined && { from: head }), to };
    return { updates: [update], content, to };
  });
  return {
    note: { content: result.content, node: snapshot.repository.graph.find(result.to) },
    snapshot,
  };
}
