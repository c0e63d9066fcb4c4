import { z } from "@hono/zod-openapi";

import type { PackageShape } from "../../shapes/packages/package.ts";
import type { Release } from "../../shapes/releases/release.ts";
import { answerList } from "../answer.ts";
import { at } from "../call.ts";
import { cursor, nextPage, pageQuery, ref, repository, splitName } from "./fields.ts";
import { tool } from "./tool.ts";

export const releaseTools = [
  tool({
    name: "list_releases",
    description: "List the releases of a repository with their notes and files.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, cursor }),
    async run({ api }, { repository: fullName, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const page = await api.get<Release[]>(at`/repos/${owner}/${name}/releases`, pageQuery(from));
      return answerList({
        noun: "releases",
        rows: page.body,
        total: page.total,
        cursor: nextPage(from, page),
        line: (release) =>
          [
            `${release.tag_name} ${release.name}${release.draft ? " (draft)" : ""}${release.prerelease ? " (pre-release)" : ""}, ${release.published_at}`,
            ...release.assets.map((asset) => `  ${asset.name} ${asset.size} bytes`),
            release.body,
          ].join("\n"),
        item: (release) => ({ id: release.id, url: release.html_url }),
      });
    },
  }),
  tool({
    name: "create_release",
    description: "Publish a release, with a new tag where there is none.",
    effect: "write",
    scopes: ["write:repository"],
    input: z.object({
      repository,
      tag: z.string().min(1).max(255),
      target: ref,
      title: z.string().max(255).optional(),
      notes: z.string().max(262_144).optional(),
      draft: z.boolean().optional(),
      prerelease: z.boolean().optional(),
    }),
    async run({ api }, { repository: fullName, tag, target, title, notes, ...flags }) {
      const { owner, name } = splitName(fullName);
      const { body } = await api.post<Release>(at`/repos/${owner}/${name}/releases`, {
        tag_name: tag,
        target_commitish: target,
        name: title,
        body: notes,
        ...flags,
      });
      return {
        summary: `Created the release: ${body.html_url}`,
        structured: { id: body.id, url: body.html_url },
      };
    },
  }),
  tool({
    name: "list_packages",
    description: "List the packages of a user or an organization, each version.",
    effect: "read",
    scopes: ["read:package"],
    input: z.object({
      owner: z.string().min(1).max(40),
      query: z.string().max(256).optional(),
      cursor,
    }),
    async run({ api }, { owner, query, cursor: from }) {
      const page = await api.get<PackageShape[]>(at`/packages/${owner}`, {
        q: query,
        ...pageQuery(from),
      });
      return answerList({
        noun: "versions",
        rows: page.body,
        total: page.total,
        cursor: nextPage(from, page),
        line: (each) => `${each.type} ${each.name} ${each.version}, ${each.created_at}`,
        item: (each) => ({ id: each.id, type: each.type, url: each.html_url }),
      });
    },
  }),
];
