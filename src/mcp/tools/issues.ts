import { z } from "@hono/zod-openapi";

import type { Comment } from "../../shapes/issues/comment.ts";
import type { Issue } from "../../shapes/issues/issue.ts";
import type { Label } from "../../shapes/issues/label.ts";
import type { Milestone } from "../../shapes/issues/milestone.ts";
import { answerList, type Answer } from "../answer.ts";
import { at, type McpCall } from "../call.ts";
import { cursor, nextPage, number, pageQuery, repository, splitName } from "./fields.ts";
import { tool } from "./tool.ts";

const text = z.string().max(262_144);
const title = z.string().min(1).max(255);
const names = z.array(z.string().min(1).max(255)).max(100);

/** A line about an issue or a pull request. */
export const lineOf = (issue: Issue): string =>
  [
    `${issue.repository.full_name}#${issue.number}`,
    issue.state,
    issue.title,
    `by ${issue.user.login}`,
    ...(issue.labels.length > 0
      ? [`labels ${issue.labels.map((label) => label.name).join(", ")}`]
      : []),
    ...(issue.assignees.length > 0
      ? [`assigned to ${issue.assignees.map((user) => user.login).join(", ")}`]
      : []),
    `${issue.comments} comments`,
    `updated ${issue.updated_at}`,
  ].join(", ");

const itemOf = (issue: Issue) => ({
  repository: issue.repository.full_name,
  number: issue.number,
  state: issue.state,
  url: issue.html_url,
});

/** A comment with what stands before it. */
const describeComment = ({ id, user, created_at: at_, body }: Comment): string =>
  `comment ${id} by ${user.login} at ${at_}:\n${body}`;

/** The answer to a write. */
export const written = (what: string, item: { number: number; html_url: string }): Answer => ({
  summary: `${what} #${item.number}: ${item.html_url}`,
  structured: { number: item.number, url: item.html_url },
});

/** The ids of labels that are given by name. */
export const labelIds = (
  { api }: McpCall,
  { owner, name }: { owner: string; name: string },
  given: readonly string[],
): Promise<number[]> =>
  Promise.all(
    given.map(async (label) => {
      const { body } = await api.get<Label>(at`/repos/${owner}/${name}/labels/${label}`);
      return body.id;
    }),
  );

/** The id of a milestone that is given by its title. */
async function milestoneId(
  { api }: McpCall,
  { owner, name }: { owner: string; name: string },
  given: string,
): Promise<number> {
  if (given === "") return 0;
  const { body } = await api.get<Milestone>(at`/repos/${owner}/${name}/milestones/${given}`);
  return body.id;
}

export const issueTools = [
  tool({
    name: "search_issues",
    description: "Find issues and pull requests, in one repository or all.",
    effect: "read",
    scopes: ["read:issue"],
    input: z.object({
      repository: repository.optional(),
      query: z.string().max(256).optional(),
      kind: z.enum(["issues", "pulls"]).optional(),
      state: z.enum(["open", "closed", "all"]).optional(),
      labels: names.optional(),
      mine: z.enum(["created", "assigned", "mentioned", "review_requested"]).optional(),
      cursor,
    }),
    async run({ api, actor }, args) {
      const { repository: fullName, query, kind, state, labels, mine, cursor: from } = args;
      const filter = {
        q: query,
        type: kind,
        state,
        labels: labels?.join(","),
        ...pageQuery(from),
      };
      const page =
        fullName === undefined || mine === "review_requested"
          ? await api.get<Issue[]>(at`/repos/issues/search`, {
              ...filter,
              ...(mine && { [mine]: true }),
            })
          : await api.get<Issue[]>(
              at`/repos/${splitName(fullName).owner}/${splitName(fullName).name}/issues`,
              { ...filter, ...(mine && { [`${mine}_by`]: actor.user?.name }) },
            );
      return answerList({
        noun: "issues and pull requests",
        rows: page.body,
        total: page.total,
        cursor: nextPage(from, page),
        line: lineOf,
        item: itemOf,
      });
    },
  }),
  tool({
    name: "get_issue",
    description: "Read an issue or pull request with its comments.",
    effect: "read",
    scopes: ["read:issue"],
    input: z.object({ repository, number, cursor }),
    async run({ api }, { repository: fullName, number: index, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const [{ body: issue }, page] = await Promise.all([
        api.get<Issue>(at`/repos/${owner}/${name}/issues/${index}`),
        api.get<Comment[]>(at`/repos/${owner}/${name}/issues/${index}/comments`, pageQuery(from)),
      ]);
      const next = nextPage(from, page);
      return {
        summary: `#${issue.number}, ${issue.state}, ${page.total ?? page.body.length} comments: ${issue.html_url}`,
        data: [
          ...(from === undefined
            ? [{ label: `#${index}`, text: `${lineOf(issue)}\n\n${issue.body}` }]
            : []),
          ...page.body.map((comment) => ({
            label: `comment ${comment.id}`,
            text: describeComment(comment),
          })),
        ],
        structured: {
          ...itemOf(issue),
          comments: page.body.map(({ id, html_url: url }) => ({ id, url })),
          cursor: next,
        },
        next: next && `For more comments, call again with cursor "${next}".`,
      };
    },
  }),
  tool({
    name: "create_issue",
    description: "Open an issue.",
    effect: "write",
    scopes: ["write:issue"],
    input: z.object({
      repository,
      title,
      body: text.optional(),
      labels: names.optional(),
      assignees: names.optional(),
      milestone: z.string().max(255).optional(),
    }),
    async run(call, { repository: fullName, labels = [], milestone, ...fields }) {
      const target = splitName(fullName);
      const { owner, name } = target;
      const { body } = await call.api.post<Issue>(at`/repos/${owner}/${name}/issues`, {
        ...fields,
        labels: await labelIds(call, target, labels),
        ...(milestone && { milestone: await milestoneId(call, target, milestone) }),
      });
      return written("Opened", body);
    },
  }),
  tool({
    name: "update_issue",
    description: "Change an issue or pull request. Lists replace what there is.",
    effect: "write",
    scopes: ["write:issue"],
    input: z.object({
      repository,
      number,
      title: title.optional(),
      body: text.optional(),
      state: z.enum(["open", "closed"]).optional(),
      assignees: names.optional(),
      labels: names.optional(),
      milestone: z.string().max(255).optional(),
    }),
    async run(call, { repository: fullName, number: index, labels, milestone, ...fields }) {
      const target = splitName(fullName);
      const { owner, name } = target;
      const path = at`/repos/${owner}/${name}/issues/${index}`;
      const ids = labels && (await labelIds(call, target, labels));
      const { body } = await call.api.patch<Issue>(path, {
        ...fields,
        ...(milestone !== undefined && { milestone: await milestoneId(call, target, milestone) }),
      });
      if (ids)
        await call.api.put(at`/repos/${owner}/${name}/issues/${index}/labels`, { labels: ids });
      return written("Changed", body);
    },
  }),
  tool({
    name: "add_comment",
    description: "Comment on an issue or pull request.",
    effect: "write",
    scopes: ["write:issue"],
    input: z.object({ repository, number, body: text.min(1) }),
    async run({ api }, { repository: fullName, number: index, body }) {
      const { owner, name } = splitName(fullName);
      const answer = await api.post<Comment>(at`/repos/${owner}/${name}/issues/${index}/comments`, {
        body,
      });
      const { id, html_url: url } = answer.body;
      return { summary: `Commented on #${index}: ${url}`, structured: { id, url } };
    },
  }),
  tool({
    name: "list_labels",
    description: "List the labels and open milestones of a repository.",
    effect: "read",
    scopes: ["read:issue"],
    input: z.object({ repository, cursor }),
    async run({ api }, { repository: fullName, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const [labels, milestones] = await Promise.all([
        api.get<Label[]>(at`/repos/${owner}/${name}/labels`, pageQuery(from)),
        api.get<Milestone[]>(at`/repos/${owner}/${name}/milestones`, pageQuery(from)),
      ]);
      const next = nextPage(from, { hasMore: labels.hasMore || milestones.hasMore });
      const list = answerList({
        noun: `labels, ${milestones.total ?? milestones.body.length} milestones`,
        rows: labels.body,
        total: labels.total,
        cursor: next,
        line: (label) => `${label.name}: ${label.description}`,
        item: ({ id }) => ({ id }),
      });
      const titles = milestones.body.map((milestone) => milestone.title);
      return {
        ...list,
        data: [...(list.data ?? []), { label: "milestones", text: titles.join("\n") }],
      };
    },
  }),
];
