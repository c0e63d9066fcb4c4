import { type Check, judge } from "./check.ts";

/** worker-configuration.d.ts says what wrangler.toml binds. */
export const workerTypes: Check = {
  name: "worker-types",
  run: () => judge("wrangler", ["types", "--include-runtime=false", "--check"]),
};
