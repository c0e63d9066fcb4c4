import { createRoute, z } from "@hono/zod-openapi";

import { PROJECT_PARTS, type ProjectPart } from "../../db/schema/index.ts";
import { AUTHORS_MAX } from "../../domain/exchange/imports/find-authors.ts";
import { startImport } from "../../domain/exchange/imports/start-import.ts";
import { Int64 } from "../../shapes/json.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";

const MigrateRepo = body({
  clone_addr: requiredText(4096).openapi({
    description: "The address of the project, or of its git repository, by HTTP or HTTPS",
  }),
  repo_name: requiredText(100),
  repo_owner: optionalText(40).openapi({
    description: "The user or organization that is to own it; the caller, if empty",
  }),
  uid: Int64.optional().openapi({ description: "Deprecated: the id of the owner" }),
  service: optionalText(40).openapi({
    description:
      "git, gitea, gogs, github or gitlab; of others only git is taken. Forgejo is gitea",
  }),
  auth_username: optionalText(255),
  auth_password: optionalText(4096),
  auth_token: optionalText(4096),
  mirror: optionalFlag().openapi({
    description:
      "Follow the repository from then on; only git is taken, unless mirror_parts says more",
  }),
  mirror_interval: optionalText(64).openapi({
    description: "As Go writes durations, such as 8h0m0s; 0 for none",
  }),
  mirror_parts: z.array(z.enum(PROJECT_PARTS)).max(PROJECT_PARTS.length).optional().openapi({
    description: "What a mirror of a forge keeps in step besides git; it is read-only here",
  }),
  private: optionalFlag(),
  description: optionalText(2048).openapi({ description: "That of the project, if empty" }),
  wiki: optionalFlag().openapi({ description: "Whether the wiki comes along" }),
  lfs: optionalFlag(),
  lfs_endpoint: optionalText(4096),
  labels: optionalFlag(),
  milestones: optionalFlag(),
  issues: optionalFlag().openapi({ description: "With their comments" }),
  pull_requests: optionalFlag().openapi({ description: "With their comments and reviews" }),
  releases: optionalFlag().openapi({ description: "With their files" }),
  authors: z
    .record(z.string().max(255), z.string().max(40))
    .optional()
    .openapi({
      description: `The accounts here of authors there, both by name, at most ${AUTHORS_MAX}; for administrators of the service`,
    }),
  aws_access_key_id: optionalText(255).openapi({
    description: "Accepted: only git is taken of CodeCommit",
  }),
  aws_secret_access_key: optionalText(255).openapi({ description: "Accepted, as above" }),
}).openapi("MigrateRepoOptions");

export const migrate = endpoints();

migrate.openapi(
  createRoute({
    method: "post",
    path: "/repos/migrate",
    operationId: "repoMigrate",
    tags: ["repository"],
    summary: "Migrate a repository, or a project of another service",
    description:
      "The repository exists at once. The request waits some seconds for the end of the migration; what takes longer goes on, as `GET /repos/{owner}/{repo}/migration` tells. A migration that fails within that time leaves nothing behind.",
    middleware: [signedIn("write:repository")] as const,
    request: { body: { required: true, ...json(MigrateRepo, "The project") } },
    responses: {
      201: json(Repository, "The repository, possibly still being migrated"),
      ...refusals(401, 403, 409, 422),
    },
  }),
  async (c) => {
    const { ctx, user, viewer } = c.var;
    const sent = c.req.valid("json");
    const flags: [ProjectPart, boolean | undefined][] = [
      ["labels", sent.labels],
      ["milestones", sent.milestones],
      ["issues", sent.issues],
      ["pulls", sent.pull_requests],
      ["releases", sent.releases],
    ];
    const repo = await startImport(ctx, user, {
      cloneAddress: sent.clone_addr,
      name: sent.repo_name,
      ownerName: sent.repo_owner ?? "",
      ownerId: sent.uid ?? 0,
      service: sent.service ?? "",
      username: sent.auth_username ?? "",
      password: sent.auth_password ?? "",
      token: sent.auth_token ?? "",
      isMirror: sent.mirror ?? false,
      mirrorInterval: sent.mirror_interval ?? "",
      mirrorParts: sent.mirror_parts ?? [],
      isPrivate: sent.private ?? false,
      description: sent.description ?? "",
      withLargeFiles: sent.lfs ?? false,
      largeFilesUrl: sent.lfs_endpoint ?? "",
      withWiki: sent.wiki ?? false,
      parts: flags.flatMap(([part, isIncluded]) => (isIncluded ? [part] : [])),
      authors: sent.authors ?? {},
    });
    return c.json(toRepository(repo, viewer), 201);
  },
);
