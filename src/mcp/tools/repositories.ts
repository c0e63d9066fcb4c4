import { z } from "@hono/zod-openapi";

import type { Repository } from "../../shapes/repos/repository.ts";
import type { User } from "../../shapes/users/user.ts";
import type { Branch } from "../../shapes/git/branch.ts";
import { answerList, type Answer } from "../answer.ts";
import { at } from "../call.ts";
import { cursor, nextPage, pageQuery, ref, repository, splitName } from "./fields.ts";
import { tool } from "./tool.ts";

const describeRepository = (repo: Repository): string =>
  [
    repo.full_name,
    repo.private ? "private" : "public",
    ...(repo.archived ? ["archived"] : []),
    ...(repo.fork ? ["fork"] : []),
    ...(repo.template ? ["template"] : []),
    ...(repo.language === "" ? [] : [repo.language]),
    `${repo.stars_count} stars`,
    repo.description,
  ].join(", ");

const itemOf = (repo: Repository) => ({
  repository: repo.full_name,
  default_branch: repo.default_branch,
  url: repo.html_url,
});

const created = (repo: Repository, what: string): Answer => ({
  summary: `${what} ${repo.full_name}: ${repo.html_url}`,
  structured: { ...itemOf(repo), clone_url: repo.clone_url },
});

export const repositoryTools = [
  tool({
    name: "search_repositories",
    description: "Find repositories.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({
      query: z.string().max(256).optional(),
      sort: z.enum(["created", "updated", "stars"]).optional(),
      cursor,
    }),
    async run({ api }, { query, sort, cursor: from }) {
      const page = await api.get<{ data: Repository[] }>(at`/repos/search`, {
        q: query,
        includeDesc: true,
        ...(sort && { sort, order: "desc" }),
        ...pageQuery(from),
      });
      return answerList({
        noun: "repositories",
        rows: page.body.data,
        total: page.total,
        cursor: nextPage(from, page),
        line: describeRepository,
        item: itemOf,
      });
    },
  }),
  tool({
    name: "get_repository",
    description: "Describe a repository, and what you may do there.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository }),
    async run({ api }, args) {
      const { owner, name } = splitName(args.repository);
      const { body: repo } = await api.get<Repository>(at`/repos/${owner}/${name}`);
      const { admin, push } = repo.permissions;
      const right = admin ? "administer" : push ? "write" : "read";
      return {
        summary: `${repo.full_name}: you may ${right}. ${repo.open_issues_count} open issues, ${repo.open_pr_counter} open pull requests, ${repo.release_counter} releases, ${repo.size} KiB. ${repo.html_url}`,
        data: [
          {
            label: "description",
            text: `${describeRepository(repo)}\ndefault branch: ${repo.default_branch}\ntopics: ${repo.topics.join(", ")}`,
          },
        ],
        structured: {
          ...itemOf(repo),
          clone_url: repo.clone_url,
          permissions: repo.permissions,
          archived: repo.archived,
          empty: repo.empty,
        },
      };
    },
  }),
  tool({
    name: "create_repository",
    description: "Create a repository, empty, with a README, or from a template.",
    effect: "write",
    scopes: ["write:repository", "write:user"],
    input: z.object({
      name: z.string().max(100),
      owner: z.string().max(40).optional().describe("organization; else yours"),
      description: z.string().max(2048).optional(),
      private: z.boolean().optional(),
      template: z.string().max(512).optional().describe("owner/name"),
      readme: z.boolean().optional(),
      expires_in: z.int().min(0).optional().describe("seconds; then deleted"),
    }),
    async run({ api, actor }, { owner, template, readme = false, ...fields }) {
      if (template !== undefined) {
        const from = splitName(template);
        const { body } = await api.post<Repository>(
          at`/repos/${from.owner}/${from.name}/generate`,
          { ...fields, owner: owner ?? actor.user?.name, git_content: true, topics: true },
        );
        return created(body, "Created");
      }
      const target = owner === undefined ? at`/user/repos` : at`/orgs/${owner}/repos`;
      const { body } = await api.post<Repository>(target, { ...fields, auto_init: readme });
      return created(body, "Created");
    },
  }),
  tool({
    name: "fork_repository",
    description: "Fork a repository.",
    effect: "write",
    scopes: ["write:repository"],
    input: z.object({
      repository,
      organization: z.string().max(40).optional(),
      name: z.string().max(100).optional(),
    }),
    async run({ api }, { repository: fullName, ...body }) {
      const { owner, name } = splitName(fullName);
      const answer = await api.post<Repository>(at`/repos/${owner}/${name}/forks`, body);
      return created(answer.body, "Forked to");
    },
  }),
  tool({
    name: "list_branches",
    description: "List branches with their last commits.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, cursor }),
    async run({ api }, { repository: fullName, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const page = await api.get<Branch[]>(at`/repos/${owner}/${name}/branches`, pageQuery(from));
      return answerList({
        noun: "branches",
        rows: page.body,
        total: page.total,
        cursor: nextPage(from, page),
        line: (branch) =>
          `${branch.name} ${branch.commit.id} ${branch.protected ? "protected" : ""}`.trimEnd(),
        item: (branch) => ({ name: branch.name, sha: branch.commit.id }),
      });
    },
  }),
  tool({
    name: "create_branch",
    description: "Create a branch.",
    effect: "write",
    scopes: ["write:repository"],
    input: z.object({ repository, branch: z.string().max(1024), from: ref }),
    async run({ api }, { repository: fullName, branch, from }) {
      const { owner, name } = splitName(fullName);
      const { body } = await api.post<Branch>(at`/repos/${owner}/${name}/branches`, {
        new_branch_name: branch,
        ...(from !== undefined && { old_ref_name: from }),
      });
      return {
        summary: `Created the branch ${body.name} at ${body.commit.id}.`,
        structured: { name: body.name, sha: body.commit.id },
      };
    },
  }),
  tool({
    name: "search_users",
    description: "Find people by name.",
    effect: "read",
    scopes: ["read:user"],
    input: z.object({ query: z.string().max(256), cursor }),
    async run({ api }, { query, cursor: from }) {
      const page = await api.get<User[]>(at`/users/search`, {
        q: query,
        ...pageQuery(from),
      });
      return answerList({
        noun: "users",
        rows: page.body,
        total: page.total,
        cursor: nextPage(from, page),
        line: (user) => `${user.login}${user.full_name === "" ? "" : ` (${user.full_name})`}`,
        item: (user) => ({ login: user.login, url: user.html_url }),
      });
    },
  }),
];
