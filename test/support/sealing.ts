import { doorsWith } from "./service.ts";

/** A key that seals values in tests. */
export const SEALING_KEYS = `test:${"A".repeat(43)}=`;

/** The service with a key to seal secrets: like `visit`. */
export const visitSealing = doorsWith({ SEALING_KEYS });
