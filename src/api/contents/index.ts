import { blobs } from "./blobs.ts";
import { fileChanges } from "./changes.ts";
import { contents } from "./contents.ts";
import { editorconfig } from "./editorconfig.ts";
import { fileContents } from "./file-contents.ts";
import { patches } from "./patches.ts";
import { raw } from "./raw.ts";
import { trees } from "./trees.ts";

/** The routes of files. When two paths match a request, the one listed first handles it. */
export const contentRoutes = [
  contents,
  fileContents,
  editorconfig,
  fileChanges,
  patches,
  raw,
  blobs,
  trees,
];
