/** The links of the parts about Actions with their documents, by their paths below the settings. */
export const ACTIONS_LINKS = {
  "/actions/secrets": ["Secrets", "actions#secrets-and-variables"],
  "/actions/variables": ["Variables", "actions#secrets-and-variables"],
  "/actions/runners": ["Runners", "actions#runners"],
} as const;
