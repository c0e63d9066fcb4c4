import { defineSamples, once } from "../../support/samples/sample.ts";

const NEW_FILE_PATCH =
  "diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+x\n";

export const samples = defineSamples({
  repoApplyDiffPatch: {
    request: async (world) => ({
      path: await world.codePath(),
      json: { content: NEW_FILE_PATCH },
    }),
    announces: once("repository.pushed"),
  },
});
