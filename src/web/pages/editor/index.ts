import type { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { fileDeletion } from "./delete.tsx";
import { fileEditor } from "./file.tsx";
import { patchForm } from "./patch.tsx";
import { pickForm } from "./pick.tsx";
import { fileUpload } from "./upload.tsx";

/** The pages that change files by a commit. */
export const editorPages: readonly Hono<WebEnv>[] = [
  fileEditor,
  fileDeletion,
  fileUpload,
  patchForm,
  pickForm,
];
