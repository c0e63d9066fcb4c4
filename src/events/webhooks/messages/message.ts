import type { CommitState } from "../../../db/schema/index.ts";
import { encodePath } from "../../../shapes/urls.ts";
import type { PushedCommit } from "../../../shapes/git/payload-commit.ts";
import type { Repository } from "../../../shapes/repos/repository.ts";
import type { User } from "../../../shapes/users/user.ts";
import { kindOfRef, shortRef } from "../payloads/webhook-event.ts";
import type { Payload } from "../payloads/payload.ts";
import type { PushPayload } from "../payloads/push-payload.ts";
import type { CreatePayload, DeletePayload } from "../payloads/ref-payload.ts";
import type { PackagePayload } from "../../../shapes/webhooks/package-payload.ts";
import type { ReleasePayload } from "../../../shapes/webhooks/release-payload.ts";
import type { WikiPayload } from "../../../shapes/webhooks/wiki-payload.ts";
import type { RepositoryPayload } from "../../../shapes/webhooks/repository-payload.ts";
import type {
  WorkflowJobPayload,
  WorkflowRunPayload,
} from "../../../shapes/webhooks/workflow-payloads.ts";
import type { ForkPayload } from "../payloads/repository-payload.ts";
import type { StatusPayload } from "../payloads/status-payload.ts";
import { ofComment, ofIssue } from "./issue-message.ts";
import { ofPull, ofReview, ofReviewRequest } from "./pull-message.ts";
import {
  GREEN,
  linkTo,
  type ChatParts,
  type Piece,
  RED,
  shorten,
  YELLOW,
} from "./message-parts.ts";

/** A chat message, before it is formatted for a kind of chat. */
export interface Message extends Required<ChatParts> {
  readonly sender: User;
  readonly source: MessageSource;
}

/** Where the subject of a message is: in a repository, or in an account. */
interface MessageSource {
  readonly kind: "Repository" | "Owner";
  readonly name: string;
  readonly url: string;
}

/** Six hex digits. */
export const formatColor = (color: number): string => color.toString(16).padStart(6, "0");

const STATE_COLORS: Record<CommitState, number> = {
  success: GREEN,
  pending: YELLOW,
  warning: YELLOW,
  skipped: YELLOW,
  failure: RED,
  error: RED,
};

/**
 * Converts a payload to a message; undefined for a push without commits, of which chats are not
 * notified.
 */
export function toMessage(payload: Payload): Message | undefined {
  const source = sourceOf(payload);
  const news = toParts(payload);
  return news && { url: source.url, details: [], source, sender: payload.body.sender, ...news };
}

function sourceOf({ event, body }: Payload): MessageSource {
  if (event === "package" && !body.repository) {
    const { login: name, html_url: url } = body.package.owner;
    return { kind: "Owner", name, url };
  }
  const { full_name: name, html_url: url } = body.repository as Repository;
  return { kind: "Repository", name, url };
}

function toParts(payload: Payload): ChatParts | undefined {
  switch (payload.event) {
    case "repository":
      return ofRepository(payload.body);
    case "fork":
      return ofFork(payload.body);
    case "create":
      return ofCreate(payload.body);
    case "delete":
      return ofDelete(payload.body);
    case "push":
      return payload.body.commits.length === 0 ? undefined : ofPush(payload.body);
    case "status":
      return ofStatus(payload.body);
    case "release":
      return ofRelease(payload.body);
    case "wiki":
      return ofWiki(payload.body);
    case "workflow_run":
      return ofRun(payload.body);
    case "workflow_job":
      return ofJob(payload.body);
    case "package":
      return ofPackage(payload.body);
    case "issues":
    case "issue_assign":
    case "issue_label":
    case "issue_milestone":
      return ofIssue(payload.body);
    case "issue_comment":
    case "pull_request_comment":
      return ofComment(payload.body);
    case "pull_request":
    case "pull_request_assign":
    case "pull_request_label":
    case "pull_request_milestone":
    case "pull_request_sync":
      return ofPull(payload.body);
    case "pull_request_review_request":
      return ofReviewRequest(payload.body);
    case "pull_request_review_approved":
    case "pull_request_review_rejected":
    case "pull_request_review_comment":
      return ofReview(payload.body);
    default:
      return payload satisfies never;
  }
}

const WORK_COLORS: Readonly<Record<string, number>> = {
  success: GREEN,
  failure: RED,
  cancelled: RED,
};

function ofRun({ workflow_run: run, repository }: WorkflowRunPayload): ChatParts {
  const { conclusion, status, display_title: title, html_url: url } = run;
  const subject = { text: shorten(`#${run.run_number} ${title}`), url };
  return {
    title: ["[", linkTo(repository), "] Workflow run ", subject, ` ${conclusion || status}`],
    color: WORK_COLORS[conclusion] ?? YELLOW,
    url,
  };
}

function ofJob({ workflow_job: job, repository }: WorkflowJobPayload): ChatParts {
  const { conclusion, status, name, html_url: url } = job;
  const subject = { text: shorten(name), url };
  return {
    title: ["[", linkTo(repository), "] Workflow job ", subject, ` ${conclusion || status}`],
    color: WORK_COLORS[conclusion] ?? YELLOW,
    url,
  };
}

/** The title of a deleted repository does not link to it. */
function ofRepository({ action, repository, mirror, migration }: RepositoryPayload): ChatParts {
  switch (action) {
    case "created":
      return { color: GREEN, title: ["[", linkTo(repository), "] Repository created"] };
    case "deleted":
      return { color: RED, title: [`[${shorten(repository.full_name)}] Repository deleted`] };
    case "archived":
      return { color: YELLOW, title: ["[", linkTo(repository), "] Repository archived"] };
    case "expiring":
      return {
        color: YELLOW,
        title: ["[", linkTo(repository), `] Repository ends at ${repository.expires_at ?? ""}`],
      };
    case "mirror_failed":
      return {
        color: RED,
        title: [
          "[",
          linkTo(repository),
          mirror?.paused ? "] Mirror paused: " : "] Mirror fails: ",
          shorten(mirror?.reason ?? ""),
        ],
      };
    case "mirror_recovered":
      return { color: GREEN, title: ["[", linkTo(repository), "] Mirror works again"] };
    case "migration_finished":
      return { color: GREEN, title: ["[", linkTo(repository), "] Repository migrated"] };
    case "migration_failed":
      return {
        color: RED,
        title: ["[", linkTo(repository), "] Migration failed: ", shorten(migration?.reason ?? "")],
      };
    default:
      return action satisfies never;
  }
}

const ofFork = ({ forkee, repository }: ForkPayload): ChatParts => ({
  color: GREEN,
  title: [linkTo(forkee), " is forked to ", linkTo(repository)],
});

function ofCreate({ ref, ref_type: kind, repository }: CreatePayload): ChatParts {
  const url = refUrl(repository, kind, ref);
  const title = ["[", linkTo(repository), `] ${kind} `, { text: shorten(ref), url }, " created"];
  return { color: GREEN, title, url };
}

const ofDelete = ({ ref, ref_type: kind, repository }: DeletePayload): ChatParts => ({
  color: RED,
  title: ["[", linkTo(repository), `] ${kind} ${shorten(ref)} deleted`],
});

function ofPush({
  ref,
  repository,
  commits,
  total_commits: total,
  compare_url: compareUrl,
}: PushPayload): ChatParts {
  const [only] = commits;
  const url = total === 1 && only ? only.url : compareUrl;
  const branch: Piece = {
    text: shorten(shortRef(ref)),
    url: refUrl(repository, kindOfRef(ref) ?? "branch", shortRef(ref)),
  };
  const count = total === 1 ? "1 new commit" : `${total} new commits`;
  const title = ["[", linkTo(repository), ":", branch, "] ", { text: count, url }];
  return { color: GREEN, title, url, details: commits.map(ofCommit) };
}

function ofStatus(payload: StatusPayload): ChatParts {
  const { sha, context, state, target_url: target, repository, commit } = payload;
  const description = shorten(payload.description);
  const check = ` ${shorten(context)}: ${state}`;
  const detail: Piece = isLink(target)
    ? { text: description || shorten(target), url: target }
    : description;
  return {
    color: STATE_COLORS[state],
    title: ["[", linkTo(repository), "] ", { text: sha.slice(0, 7), url: commit.url }, check],
    url: commit.url,
    details: detail === "" ? [] : [[detail]],
  };
}

const RELEASE_COLORS: Record<ReleasePayload["action"], number> = {
  published: GREEN,
  updated: YELLOW,
  deleted: RED,
};

/** The title of a deleted release does not link to it. */
function ofRelease({ action, release, repository }: ReleasePayload): ChatParts {
  const { html_url: url, tag_name: tagName, name } = release;
  const subject: Piece = action === "deleted" ? shorten(tagName) : { text: shorten(tagName), url };
  return {
    color: RELEASE_COLORS[action],
    title: ["[", linkTo(repository), "] Release ", subject, ` ${action}`],
    ...(action !== "deleted" && { url }),
    details: name === "" ? [] : [[shorten(name)]],
  };
}

/** The title of a deleted page does not link to it. */
function ofWiki({ action, page, comment, repository }: WikiPayload): ChatParts {
  const url = `${repository.html_url}/wiki/${page}`;
  const subject: Piece = action === "deleted" ? shorten(page) : { text: shorten(page), url };
  return {
    color: action === "deleted" ? RED : GREEN,
    title: ["[", linkTo(repository), "] Wiki page ", subject, ` ${action}`],
    ...(action !== "deleted" && { url }),
    details: comment === "" ? [] : [[shorten(comment.split("\n", 1)[0] ?? "")]],
  };
}

/** The title of a deleted version does not link to it. */
function ofPackage({ action, package: pkg }: PackagePayload): ChatParts {
  const { html_url: url, owner } = pkg;
  const text = shorten(`${pkg.name} ${pkg.version}`);
  const kind = shorten(pkg.type);
  const title = (subject: Piece): Piece[] => [
    "[",
    { text: shorten(owner.login), url: owner.html_url },
    `] Package of ${kind} `,
    subject,
    ` ${action}`,
  ];
  return action === "created"
    ? { color: GREEN, title: title({ text, url }), url }
    : { color: RED, title: title(text) };
}

const ofCommit = ({ id, url, message, author }: PushedCommit): Piece[] => [
  { text: id.slice(0, 7), url },
  ` ${shorten(message.split("\n", 1)[0] ?? "")} - ${shorten(author.name)}`,
];

const refUrl = (repository: Repository, kind: "branch" | "tag", name: string): string =>
  `${repository.html_url}/src/${kind}/${encodePath(name)}`;

const URL_CHARS_MAX = 2000;

/**
 * SECURITY: the target URL comes from the client that reported the status, and a link with a
 * different scheme could be a script.
 */
function isLink(text: string): boolean {
  const protocol = URL.parse(text)?.protocol;
  return (protocol === "https:" || protocol === "http:") && text.length <= URL_CHARS_MAX;
}
