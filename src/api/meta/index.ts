import { gitignoreTemplates } from "./gitignore-templates.ts";
import { labelTemplates } from "./label-templates.ts";
import { licenses } from "./licenses.ts";
import { markup } from "./markup.ts";
import { nodeInfo } from "./node-info.ts";
import { settings } from "./settings.ts";
import { signingKeys } from "./signing-keys.ts";
import { version } from "./version.ts";

/**
 * The routes of the service itself. When two paths match a request, the one listed first handles
 * it.
 */
export const metaRoutes = [
  version,
  settings,
  signingKeys,
  markup,
  gitignoreTemplates,
  licenses,
  labelTemplates,
  nodeInfo,
];
