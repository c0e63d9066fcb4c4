import { createRoute, z } from "@hono/zod-openapi";

import { ALLOWED_REACTIONS } from "../../shapes/issues/allowed-reactions.ts";
import { Int64 } from "../../shapes/json.ts";
import { json } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";
import { RESPONSE_BYTES_MAX } from "../paging.ts";

export const settings = endpoints();

const GeneralAPISettings = z
  .object({
    max_response_items: Int64,
    default_paging_num: Int64,
    explore_page_size_max: Int64.openapi({ description: "Maximum items per page of a search" }),
    default_git_trees_per_page: Int64,
    default_max_blob_size: Int64,
    default_max_response_size: Int64,
  })
  .openapi("GeneralAPISettings");

settings.openapi(
  createRoute({
    method: "get",
    path: "/settings/api",
    operationId: "getGeneralAPISettings",
    tags: ["settings"],
    summary: "Get the limits of the API",
    middleware: [anyone()] as const,
    responses: { 200: json(GeneralAPISettings, "The limits") },
  }),
  (c) => {
    const { config } = c.var.ctx;
    return c.json(
      {
        max_response_items: config.pageSizeMax,
        default_paging_num: config.pageSizeDefault,
        explore_page_size_max: config.searchPageSizeMax,
        default_git_trees_per_page: 1000,
        default_max_blob_size: 10_485_760,
        default_max_response_size: RESPONSE_BYTES_MAX,
      },
      200,
    );
  },
);

const GeneralRepoSettings = z
  .object({
    mirrors_disabled: z.boolean(),
    http_git_disabled: z.boolean(),
    migrations_disabled: z.boolean(),
    stars_disabled: z.boolean(),
    time_tracking_disabled: z.boolean(),
    lfs_disabled: z.boolean(),
  })
  .openapi("GeneralRepoSettings");

settings.openapi(
  createRoute({
    method: "get",
    path: "/settings/repository",
    operationId: "getGeneralRepositorySettings",
    tags: ["settings"],
    summary: "Get the instance's repository settings",
    middleware: [anyone()] as const,
    responses: { 200: json(GeneralRepoSettings, "The disabled features") },
  }),
  (c) => {
    const { mirrors, areMigrationsDisabled, isLfsOn } = c.var.ctx.config;
    return c.json(
      {
        mirrors_disabled: !mirrors.isOn,
        migrations_disabled: areMigrationsDisabled,
        time_tracking_disabled: false,
        http_git_disabled: false,
        stars_disabled: false,
        lfs_disabled: !isLfsOn,
      },
      200,
    );
  },
);

const GeneralUISettings = z
  .object({
    default_theme: z.string(),
    allowed_reactions: z.array(z.string()),
    custom_emojis: z.array(z.string()).openapi({ description: "Names of emojis beyond Unicode's" }),
  })
  .openapi("GeneralUISettings");

settings.openapi(
  createRoute({
    method: "get",
    path: "/settings/ui",
    operationId: "getGeneralUISettings",
    tags: ["settings"],
    summary: "Get the instance's settings for user interfaces",
    middleware: [anyone()] as const,
    responses: { 200: json(GeneralUISettings, "The theme, reactions and emojis") },
  }),
  (c) =>
    c.json(
      { default_theme: "auto", allowed_reactions: [...ALLOWED_REACTIONS], custom_emojis: [] },
      200,
    ),
);

const GeneralAttachmentSettings = z
  .object({
    enabled: z.boolean(),
    allowed_types: z.string().openapi({ description: "Endings and types, separated by commas" }),
    max_size: Int64.openapi({ description: "Maximum size of an attachment, in MiB" }),
    max_files: Int64.openapi({ description: "Maximum files of one issue, and of one comment" }),
  })
  .openapi("GeneralAttachmentSettings");

settings.openapi(
  createRoute({
    method: "get",
    path: "/settings/attachment",
    operationId: "getGeneralAttachmentSettings",
    tags: ["settings"],
    summary: "Get the limits of attachments",
    middleware: [anyone()] as const,
    responses: { 200: json(GeneralAttachmentSettings, "The limits") },
  }),
  (c) => {
    const { config } = c.var.ctx;
    return c.json(
      {
        enabled: config.areAttachmentsOn,
        allowed_types: config.attachmentTypes.join(","),
        max_size: config.attachmentMaxMib,
        max_files: config.attachmentCountMax,
      },
      200,
    );
  },
);
