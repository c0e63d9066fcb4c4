import type { ForgeService } from "../db/schema/index.ts";
import type { ForgeReader } from "./forge.ts";
import type { ForgeAccess, ForgeAddress } from "./forge-address.ts";
import { openGitea } from "./gitea/open-gitea.ts";
import { openGitHub } from "./github/open-github.ts";
import { openGitLab } from "./gitlab/open-gitlab.ts";
import { openGogs } from "./gogs/open-gogs.ts";

type OpenReader = (access: ForgeAccess, address: ForgeAddress, numbering?: string) => ForgeReader;

/** Services that are missing are read by git alone. */
const READERS: Partial<Record<ForgeService, OpenReader>> = {
  gitea: openGitea,
  gogs: openGogs,
  github: openGitHub,
  gitlab: openGitLab,
};

/**
 * Opens the reader of a project's issues, pull requests and so on.
 *
 * @param numbering What `readProject` returned when the project was read first; undefined then.
 * @returns Undefined for a service of which only git is read.
 * @throws RemoteFailure `not_found` if the address is not that of a project there.
 */
export const openForge = (
  service: ForgeService,
  access: ForgeAccess,
  address: ForgeAddress,
  numbering?: string,
): ForgeReader | undefined => READERS[service]?.(access, address, numbering);
