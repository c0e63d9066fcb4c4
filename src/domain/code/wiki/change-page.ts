import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { MODE_FILE } from "../../../git/object/tree.ts";
import type { Oid } from "../../../git/oid.ts";
import { Failure, malformed, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { fileOfAddress, findMisnamed, toAddress } from "../../../shapes/wiki/wiki-path.ts";
import { commitFiles, type EditTarget } from "../contents/commit-files.ts";
import { requireWritable } from "../git/require-writable.ts";
import { findWikiPage, readWiki, type WikiFile } from "./open-wiki.ts";
import { toWiki } from "./to-wiki.ts";

/** What is written of a page. */
export interface PageInput {
  /** A blank one keeps the title of a page that exists. */
  readonly title: string;
  /** Undefined keeps the text of a page that exists. */
  readonly content: Uint8Array | undefined;
  /** Of the commit; a blank one gets a default. */
  readonly message: string;
}

/** A page after a change. */
export interface ChangedPage {
  /** The repository as it is now. */
  readonly repo: RepositoryContext;
  readonly address: string;
}

/** How often a change is made again because others have changed other pages meanwhile. */
const RETRIES_MAX = 5;

/**
 * Adds a page to a wiki by one commit; the first one makes the wiki.
 *
 * @throws Failure `malformed` for a title that is blank, reserved or taken, `not_found`,
 *   `forbidden` or `locked` where the caller may not write to the wiki now.
 */
export async function createPage(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  { title, content = new Uint8Array(0), message }: PageInput,
): Promise<ChangedPage> {
  requireWritable(toWiki(repo));
  const address = toFreeAddress(title);
  const isTaken = await readWiki(ctx, repo, async ({ pages }) =>
    pages.some((page) => page.address === address),
  );
  if (isTaken) throw taken();
  return commitPage(
    ctx,
    repo,
    user,
    address,
    message || `Add "${title.trim()}"`,
    async (target) => {
      await putNew(target, address, target.pack.add("blob", content));
    },
  );
}

/**
 * Changes the text or the title of a page by one commit. A page of another title has another
 * address; the old one leads there.
 *
 * @param seenOid The blob that the change is based on, if it must be the page's.
 * @throws Failure as `createPage`, and `not_found` if there is no such page, `conflict` if its blob
 *   is another one.
 */
export async function editPage(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  named: string,
  { title, content, message }: PageInput,
  seenOid?: string,
): Promise<ChangedPage> {
  const file = await requirePage(ctx, repo, named);
  const folder = file.address.slice(0, file.address.lastIndexOf("/") + 1);
  const address = title.trim() === "" ? file.address : toRenamed(title, folder, file);
  const text = message || `Update "${address}"`;
  return commitPage(ctx, repo, user, address, text, async (target) => {
    const names = namesOf(file.path);
    const old = await target.tree.find(names);
    requireSeen(old?.oid, seenOid);
    if (!old) throw notFound();
    const oid = content ? target.pack.add("blob", content) : old.oid;
    if (address === file.address) {
      await target.tree.put(names, { mode: old.mode, oid });
      return;
    }
    await target.tree.remove(names);
    await putNew(target, address, oid);
  });
}

/**
 * Deletes a page by one commit.
 *
 * @throws Failure as `editPage`.
 */
export async function deletePage(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  named: string,
  { message = "", seenOid }: { message?: string; seenOid?: string } = {},
): Promise<void> {
  const file = await requirePage(ctx, repo, named);
  const text = message || `Delete page "${file.address}"`;
  await commitPage(ctx, repo, user, file.address, text, async ({ tree }) => {
    const names = namesOf(file.path);
    const old = await tree.find(names);
    requireSeen(old?.oid, seenOid);
    if (!old) throw notFound();
    await tree.remove(names);
  });
}

/** Finds the page that a change names, if the caller may write to the wiki. */
async function requirePage(ctx: Ctx, repo: RepositoryContext, named: string): Promise<WikiFile> {
  requireWritable(toWiki(repo));
  const file = await readWiki(ctx, repo, async (wiki) => findWikiPage(wiki, named));
  if (!file) throw notFound();
  return file;
}

/** The address of a new page of a title. */
function toFreeAddress(title: string): string {
  const address = toAddress(title);
  if (address === "") throw malformed("[title]: must not be empty");
  const misnamed = findMisnamed(address);
  if (misnamed !== undefined) throw malformed(`[title]: ${misnamed}`);
  return address;
}

/** The address of a page by a new title, in the folder that it is in. */
function toRenamed(title: string, folder: string, file: WikiFile): string {
  const address = toAddress(title);
  // A title that is sent back as it was shown renames nothing.
  const isKept =
    folder + address === file.address || address.replaceAll("%2F", "/") === file.address;
  return isKept ? file.address : folder + toFreeAddress(title);
}

const taken = (): Failure => malformed("[title]: is that of another page");

/** Adds a file of a page, unless there is something at its path. */
async function putNew({ tree }: EditTarget, address: string, oid: Oid): Promise<void> {
  const names = namesOf(fileOfAddress(address));
  if ((await tree.find(names)) || (await tree.findObstacle(names))) throw taken();
  await tree.put(names, { mode: MODE_FILE, oid });
}

const namesOf = (path: string) => path.split("/").map(encodeText);

function requireSeen(oid: string | undefined, seenOid: string | undefined): void {
  if (seenOid !== undefined && seenOid !== oid) throw new PageChanged();
}

/** A page that somebody else has changed or deleted meanwhile. */
class PageChanged extends Failure {
  constructor() {
    super("conflict", "somebody else has changed the page meanwhile");
  }
}

async function commitPage(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  address: string,
  message: string,
  edit: (target: EditTarget) => Promise<void>,
): Promise<ChangedPage> {
  const options = { message, isForced: false, isSignedOff: false };
  for (let retries = 0; ; retries++) {
    try {
      const { made } = await commitFiles(ctx, toWiki(repo), user, options, message, edit);
      return { repo: { ...repo, row: { ...repo.row, wikiBranch: made.branch } }, address };
    } catch (error) {
      const isRace = error instanceof Failure && error.kind === "conflict";
      if (!isRace || error instanceof PageChanged || retries === RETRIES_MAX) throw error;
    }
  }
}
