import { z } from "@hono/zod-openapi";

import type { CombinedStatus } from "../../shapes/git/commit-status.ts";
import type { PullRequest } from "../../shapes/pulls/pull-request.ts";
import type { PullReview } from "../../shapes/pulls/pull-review.ts";
import type { PullReviewComment } from "../../shapes/pulls/pull-review-comment.ts";
import { at } from "../call.ts";
import { answerDiff } from "./commits.ts";
import { cursor, nextPage, number, pageQuery, path, repository, splitName } from "./fields.ts";
import { labelIds, written } from "./issues.ts";
import { tool } from "./tool.ts";

const text = z.string().max(262_144);
const branch = z.string().min(1).max(1000);
const line = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)
  .optional();

const reviewComment = z.object({
  path,
  body: text.min(1),
  line: line.describe("of the new file"),
  old_line: line.describe("of a deleted line"),
  start_line: line,
});

const EVENTS = { approve: "APPROVED", request_changes: "REQUEST_CHANGES", comment: "COMMENT" };

const placeOf = (comment: PullReviewComment): string =>
  `${comment.path}:${comment.position || comment.original_line}`;

export const pullTools = [
  tool({
    name: "get_pull_request",
    description: "Read a pull request with its checks and reviews.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, number, cursor }),
    async run({ api }, { repository: fullName, number: index, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const pull = at`/repos/${owner}/${name}/pulls/${index}`;
      const [{ body }, reviews, comments] = await Promise.all([
        api.get<PullRequest>(pull),
        api.get<PullReview[]>(at`/repos/${owner}/${name}/pulls/${index}/reviews`, pageQuery(from)),
        api.get<PullReviewComment[]>(
          at`/repos/${owner}/${name}/pulls/${index}/comments`,
          pageQuery(from),
        ),
      ]);
      const checks = await api.get<z.infer<typeof CombinedStatus>>(
        at`/repos/${owner}/${name}/commits/${body.head.sha}/status`,
      );
      const next = nextPage(from, { hasMore: reviews.hasMore || comments.hasMore });
      const state = body.merged ? "merged" : body.state;
      const mergeable = body.mergeable ? "mergeable" : "not mergeable now";
      return {
        summary: `Pull request #${body.number}, ${state}, ${mergeable}, checks ${checks.body.state}: ${body.html_url}`,
        data: [
          {
            label: `#${index}`,
            text: `${body.title}\nby ${body.user.login}: ${body.head.label} into ${body.base.label}, ${body.changed_files ?? 0} files, +${body.additions ?? 0} -${body.deletions ?? 0}\n\n${body.body}`,
          },
          ...(checks.body.statuses ?? []).map((status) => ({
            label: "check",
            text: `${status.context}: ${status.status}, ${status.description}`,
          })),
          ...reviews.body.map((review) => ({
            label: `review ${review.id}`,
            text: `${review.state} by ${review.user?.login ?? review.team?.name ?? ""}${review.stale ? ", of an earlier head" : ""}\n${review.body}`,
          })),
          ...comments.body.map((comment) => ({
            label: `comment ${comment.id}`,
            text: `${placeOf(comment)} by ${comment.user.login}:\n${comment.body}`,
          })),
        ],
        structured: {
          number: body.number,
          url: body.html_url,
          state,
          mergeable: body.mergeable,
          head: body.head.sha,
          base: body.base.sha,
          reviews: reviews.body.map(({ id, state: given }) => ({ id, state: given })),
          cursor: next,
        },
        next: next && `For more reviews, call again with cursor "${next}".`,
      };
    },
  }),
  tool({
    name: "get_pull_request_diff",
    description: "Read the diff of a pull request.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, number, cursor }),
    async run(call, { repository: fullName, number: index, cursor: from }) {
      const { owner, name } = splitName(fullName);
      return answerDiff(call, at`/repos/${owner}/${name}/pulls/${`${index}.diff`}`, from, {
        summary: `The diff of #${index}.`,
        structured: { number: index },
      });
    },
  }),
  tool({
    name: "create_pull_request",
    description: "Open a pull request.",
    effect: "write",
    scopes: ["write:repository"],
    input: z.object({
      repository,
      head: branch.describe("or owner:branch of a fork"),
      base: branch,
      title: z.string().min(1).max(255),
      body: text.optional(),
      labels: z.array(z.string().max(255)).max(100).optional(),
    }),
    async run(call, { repository: fullName, labels = [], ...fields }) {
      const target = splitName(fullName);
      const { owner, name } = target;
      const { body } = await call.api.post<PullRequest>(at`/repos/${owner}/${name}/pulls`, {
        ...fields,
        labels: await labelIds(call, target, labels),
      });
      return written("Opened", body);
    },
  }),
  tool({
    name: "review_pull_request",
    description: "Approve, request changes or comment, with comments on lines.",
    effect: "write",
    scopes: ["write:repository"],
    input: z.object({
      repository,
      number,
      event: z.enum(["approve", "request_changes", "comment"]),
      body: text.optional(),
      comments: z.array(reviewComment).max(100).optional(),
    }),
    async run({ api }, { repository: fullName, number: index, event, body, comments = [] }) {
      const { owner, name } = splitName(fullName);
      const answer = await api.post<PullReview>(
        at`/repos/${owner}/${name}/pulls/${index}/reviews`,
        {
          event: EVENTS[event],
          body,
          comments: comments.map(({ line: newLine, old_line: oldLine, ...comment }) => ({
            ...comment,
            new_position: newLine ?? 0,
            old_position: newLine === undefined ? (oldLine ?? 0) : 0,
          })),
        },
      );
      const { id, html_url: url, state } = answer.body;
      return { summary: `Reviewed #${index}, ${state}: ${url}`, structured: { id, url, state } };
    },
  }),
  tool({
    name: "merge_pull_request",
    description: "Merge a pull request.",
    effect: "destructive",
    scopes: ["write:repository"],
    input: z.object({
      repository,
      number,
      style: z.enum(["merge", "rebase", "rebase-merge", "squash", "fast-forward-only"]).optional(),
      message: z.string().max(65_535).optional(),
      head: z.string().max(64).optional().describe("commit that it must be"),
      delete_branch: z.boolean().optional(),
      when_checks_succeed: z.boolean().optional(),
    }),
    async run({ api }, { repository: fullName, number: index, style = "merge", ...options }) {
      const { owner, name } = splitName(fullName);
      await api.post(at`/repos/${owner}/${name}/pulls/${index}/merge`, {
        Do: style,
        MergeMessageField: options.message,
        head_commit_id: options.head,
        delete_branch_after_merge: options.delete_branch,
        merge_when_checks_succeed: options.when_checks_succeed,
      });
      const { body } = await api.get<PullRequest>(at`/repos/${owner}/${name}/pulls/${index}`);
      return {
        summary: body.merged ? `Merged #${index}.` : `#${index} is merged when its checks succeed.`,
        structured: { number: index, merged: body.merged, sha: body.merge_commit_sha ?? undefined },
      };
    },
  }),
];
