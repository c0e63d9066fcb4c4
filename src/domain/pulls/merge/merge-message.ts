import { and, asc, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type MergeStyle, reviews, users } from "../../../db/schema/index.ts";
import { decodeText, encodeText, readByteText } from "../../../git/byte-text.ts";
import { isRegularMode } from "../../../git/object/tree.ts";
import { issueHtmlUrlOf } from "../../../shapes/issues/issue.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import { findContentRevision, findEntry, splitPath } from "../../code/contents/find-entry.ts";
import type { RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { findIssueReferences } from "../../issues/references/find-references.ts";

/** Maximum bytes of a template; a larger one is ignored. */
const TEMPLATE_BYTES_MAX = 64 * 1024;

/** The title and the body of a commit message. */
export interface MergeMessage {
  readonly title: string;
  readonly body: string;
}

/**
 * The default message of the commit that a merge adds: the repository's template for the style,
 * `.gitea/default_merge_message/<STYLE>_TEMPLATE.md` of its default branch, or Gitea's text.
 *
 * @param snapshot The repository of the base.
 * @returns Undefined for a rebase without a template, whose commits keep their messages.
 */
export async function defaultMessage(
  ctx: Ctx,
  pull: PullContext,
  snapshot: RepositorySnapshot,
  style: MergeStyle,
): Promise<MergeMessage | undefined> {
  const template = await readTemplate(pull, snapshot, style);
  if (template !== undefined) return fillTemplate(ctx, pull, template);
  const { row, pull: own } = pull;
  const name = `'${row.title}' (${referenceOf(pull)})`;
  switch (style) {
    case "squash":
      return { title: `${row.title} (${referenceOf(pull)})`, body: "" };
    case "merge":
    case "rebase-merge":
      return {
        title: `Merge pull request ${name} from ${headName(pull)} into ${own.baseBranch}`,
        body: "",
      };
    case "rebase":
    case "fast-forward-only":
      return undefined;
    default:
      return style satisfies never;
  }
}

/** The pull request as messages refer to it: issues of an external tracker have the number sign. */
const referenceOf = ({ repo, row }: PullContext): string =>
  `${repo.row.issueSettings.external ? "!" : "#"}${row.number}`;

/** The head's branch, with its repository if that is another one than the base's. */
function headName({ repo, pull, headRepo }: PullContext): string {
  if (pull.headRepoId === repo.row.id) return pull.headBranch;
  const name = headRepo ? `${headRepo.owner.name}/${headRepo.row.name}` : "<deleted>";
  return `${name}:${pull.headBranch}`;
}

async function readTemplate(
  { repo }: PullContext,
  snapshot: RepositorySnapshot,
  style: MergeStyle,
): Promise<string | undefined> {
  const { repository } = snapshot;
  const revision = await findContentRevision(snapshot, repo, "");
  const root = revision && (await repository.graph.loadRoot(revision.node));
  if (!root) return undefined;
  const path = `.gitea/default_merge_message/${style.toUpperCase()}_TEMPLATE.md`;
  const entry = await findEntry(repository, root, splitPath(path));
  if (!entry || !isRegularMode(entry.mode)) return undefined;
  const found = await repository.catalog.findSized(entry.oid);
  if (!found || found.sizeBytes > TEMPLATE_BYTES_MAX) return undefined;
  return decodeText(readByteText(await repository.objects.readAt(found.location))).trim();
}

/**
 * Fills the variables of a template, `$Name` and `${Name}`; others become empty. Its first line is
 * the title.
 */
async function fillTemplate(ctx: Ctx, pull: PullContext, template: string): Promise<MergeMessage> {
  const { repo, row, pull: own, poster, headRepo } = pull;
  const { issues } = findIssueReferences(row, [ctx.publicUrl]);
  const closing = issues.filter(({ action }) => action === "closes");
  const values = new Map([
    ["BaseRepoOwnerName", repo.owner.name],
    ["BaseRepoName", repo.row.name],
    ["BaseBranch", own.baseBranch],
    ["HeadRepoOwnerName", headRepo?.owner.name ?? ""],
    ["HeadRepoName", headRepo?.row.name ?? ""],
    ["HeadBranch", own.headBranch],
    ["PullRequestTitle", row.title],
    ["PullRequestDescription", row.body],
    ["PullRequestPosterName", poster?.name ?? "Ghost"],
    ["PullRequestIndex", String(row.number)],
    ["PullRequestReference", referenceOf(pull)],
    ["ReviewedOn", `Reviewed-on: ${issueHtmlUrlOf(pull, { rootUrl: ctx.publicUrl })}`],
    ["ReviewedBy", template.includes("ReviewedBy") ? await listApprovers(ctx, pull) : ""],
    ["ClosingIssues", closing.map(({ number }) => `close #${number}`).join(", ")],
  ]);
  const fill = (text: string): string =>
    text.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_whole, braced: string, plain: string) =>
      (values.get(braced ?? plain) ?? "").toWellFormed(),
    );
  const [title = "", ...rest] = template.split("\n");
  return { title: fill(title).trim(), body: fill(rest.join("\n")).trim() };
}

/** A trailer for each user whose approval stands. */
async function listApprovers(ctx: Ctx, { row }: PullContext): Promise<string> {
  const rows = await ctx.db
    .select({ user: users })
    .from(reviews)
    .innerJoin(users, eq(users.id, reviews.reviewerId))
    .where(
      and(
        eq(reviews.issueId, row.id),
        eq(reviews.state, "approved"),
        eq(reviews.isDismissed, false),
      ),
    )
    .orderBy(asc(reviews.id))
    .limit(APPROVERS_MAX);
  const approvers = new Map(rows.map(({ user }) => [user.id, user]));
  return [...approvers.values()]
    .map((user) => {
      const { name, email } = toIdentity(ctx, user);
      return `Reviewed-by: ${decodeText(name)} <${decodeText(email)}>`;
    })
    .join("\n");
}

/** Maximum approvals that a message names. */
const APPROVERS_MAX = 100;

/** The text of a message, as git stores it. */
export const joinMessage = ({ title, body }: MergeMessage) =>
  encodeText(`${title}${body === "" ? "" : `\n\n${body}`}`.toWellFormed());
