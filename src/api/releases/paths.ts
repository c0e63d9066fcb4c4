import { z } from "@hono/zod-openapi";

import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";

export const ReleasePath = RepoPath.extend({
  id: PathId.openapi({ description: "Id of the release" }),
});

export const AssetPath = ReleasePath.extend({
  attachment_id: PathId.openapi({ description: "Id of the file" }),
});

/** The path parameters of a release by its tag, whose name may contain slashes. */
export const ReleaseTagPath = RepoPath.extend({
  tag: z.string().openapi({ description: "The tag's name, which may contain slashes" }),
});
