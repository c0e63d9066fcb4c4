import { boundedList } from "../../../lib/bounded.ts";
import { z } from "zod";

/** The media type, and the names of the files, of an export. */
export const EXPORT_MEDIA_TYPE = "application/zip";
export const MANIFEST = "manifest.json";
export const GIT_BUNDLE = "repository.bundle";
export const WIKI_BUNDLE = "wiki.bundle";
export const pagePath = (kind: string, page: number): string =>
  `${kind}/${String(page).padStart(6, "0")}.json`;
/** Where the bytes of a release's file are, by the file's `foreignId`. */
export const assetPath = (id: number | string): string => `assets/${id}`;
export const largeFilePath = (oid: string): string => `lfs/${oid}`;

const FORMAT = "edgeforge-export";
/** Readers refuse other versions. */
const VERSION = 1;

/** The repository of an export. */
export const ExportManifest = z.object({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  exportedAt: z.string().max(40),
  /** The service, and the version of its software. */
  source: z.string().max(1000),
  project: z.object({
    name: z.string().max(100),
    description: z.string().max(2048),
    website: z.string().max(1024),
    topics: boundedList(z.string().max(100), 100),
    defaultBranch: z.string().max(255),
    isPrivate: z.boolean(),
    isArchived: z.boolean(),
    htmlUrl: z.string().max(2048),
    tracksIssues: z.boolean(),
    takesPulls: z.boolean(),
    /** The branch of the wiki with its pages; "" for none, also of exports of earlier versions. */
    wikiBranch: z.string().max(255).default(""),
  }),
});
export type ExportManifest = z.infer<typeof ExportManifest>;

export const toManifest = (fields: Omit<ExportManifest, "format" | "version">): ExportManifest => ({
  format: FORMAT,
  version: VERSION,
  ...fields,
});
