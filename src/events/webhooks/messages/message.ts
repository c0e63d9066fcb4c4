import type { CommitState } from "../../../db/schema/index.ts";
import { encodePath } from "../../../shapes/urls.ts";
import type { PushedCommit } from "../../../shapes/git/payload-commit.ts";
import type { Repository } from "../../../shapes/repos/repository.ts";
import type { User } from "../../../shapes/users/user.ts";
import { kindOfRef, shortRef } from "../payloads/webhook-event.ts";
import type { Payload } from "../payloads/payload.ts";
import type { PushPayload } from "../payloads/push-payload.ts";
import type { CreatePayload, DeletePayload } from "../payloads/ref-payload.ts";
import type { RepositoryPayload } from "../../../shapes/webhooks/repository-payload.ts";
import type { ForkPayload } from "../payloads/repository-payload.ts";
import type { StatusPayload } from "../payloads/status-payload.ts";

/** Text as it is, or text that leads somewhere. Whoever writes it down escapes it. */
export type Piece = string | { readonly text: string; readonly url: string };

/** What people are told in a chat, before it takes the form of one. */
export interface Message {
  /** One line; who did it is not in it. */
  readonly title: readonly Piece[];
  /** What it is about. */
  readonly url: string;
  /** Red, green and blue as one number. */
  readonly color: number;
  readonly sender: User;
  readonly repository: Repository;
  /** More of it, each a line. */
  readonly details: readonly (readonly Piece[])[];
}

const GREEN = 0x1a7f37;
const YELLOW = 0xd4a72c;
const RED = 0xcf222e;

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

/** What people are told of a payload; undefined for a push without commits, which tells them nothing. */
export function toMessage(payload: Payload): Message | undefined {
  const { repository, sender } = payload.body;
  const news = toNews(payload);
  return news && { url: repository.html_url, details: [], repository, sender, ...news };
}

/** It is about the repository, and there is no more of it, unless it says so. */
type News = Pick<Message, "title" | "color"> & Partial<Pick<Message, "url" | "details">>;

function toNews(payload: Payload): News | undefined {
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
    default:
      return payload satisfies never;
  }
}

/** What is gone is no place to lead to. */
const ofRepository = ({ action, repository }: RepositoryPayload): News =>
  action === "created"
    ? { color: GREEN, title: ["[", linkTo(repository), "] Repository created"] }
    : { color: RED, title: [`[${shorten(repository.full_name)}] Repository deleted`] };

const ofFork = ({ forkee, repository }: ForkPayload): News => ({
  color: GREEN,
  title: [linkTo(forkee), " is forked to ", linkTo(repository)],
});

function ofCreate({ ref, ref_type: kind, repository }: CreatePayload): News {
  const url = refUrl(repository, kind, ref);
  const title = ["[", linkTo(repository), `] ${kind} `, { text: shorten(ref), url }, " created"];
  return { color: GREEN, title, url };
}

const ofDelete = ({ ref, ref_type: kind, repository }: DeletePayload): News => ({
  color: RED,
  title: ["[", linkTo(repository), `] ${kind} ${shorten(ref)} deleted`],
});

function ofPush({
  ref,
  repository,
  commits,
  total_commits: total,
  compare_url: compareUrl,
}: PushPayload): News {
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

function ofStatus(payload: StatusPayload): News {
  const { sha, context, state, target_url: target, repository, commit } = payload;
  const description = shorten(payload.description);
  const check = ` ${shorten(context)}: ${state}`;
  const said: Piece = isLink(target)
    ? { text: description || shorten(target), url: target }
    : description;
  return {
    color: STATE_COLORS[state],
    title: ["[", linkTo(repository), "] ", { text: sha.slice(0, 7), url: commit.url }, check],
    url: commit.url,
    details: said === "" ? [] : [[said]],
  };
}

const linkTo = ({ full_name: name, html_url: url }: Repository): Piece => ({
  text: shorten(name),
  url,
});

const ofCommit = ({ id, url, message, author }: PushedCommit): Piece[] => [
  { text: id.slice(0, 7), url },
  ` ${shorten(message.split("\n", 1)[0] ?? "")} - ${shorten(author.name)}`,
];

const refUrl = (repository: Repository, kind: "branch" | "tag", name: string): string =>
  `${repository.html_url}/src/${kind}/${encodePath(name)}`;

/** Characters of one text: a message is read at a glance, and every chat has a bound. */
const TEXT_CHARS_MAX = 120;
const URL_CHARS_MAX = 2000;

/** One line of bounded length, without control characters and without what turns the line around. */
function shorten(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
  if (line.length <= TEXT_CHARS_MAX) return line.toWellFormed();
  return `${line
    .slice(0, TEXT_CHARS_MAX - 1)
    .replace(/[\ud800-\udbff]$/, "")
    .toWellFormed()}…`;
}

/** SECURITY: a check names its address, and a link of another kind could be a script. */
function isLink(text: string): boolean {
  const protocol = URL.parse(text)?.protocol;
  return (protocol === "https:" || protocol === "http:") && text.length <= URL_CHARS_MAX;
}
