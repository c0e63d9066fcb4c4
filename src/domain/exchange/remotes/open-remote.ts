import type { Ctx } from "../../../context.ts";
import type { RemoteAddress } from "./remote-address.ts";
import { remoteLimitsOf } from "./remote-limits.ts";
import { RemoteRepository } from "./remote-repository.ts";

/** Opens a repository elsewhere, within the limits of the configuration. Asks it nothing yet. */
export const openRemote = ({ outgoing, config }: Ctx, address: RemoteAddress): RemoteRepository =>
  new RemoteRepository(outgoing, address, remoteLimitsOf(config));
