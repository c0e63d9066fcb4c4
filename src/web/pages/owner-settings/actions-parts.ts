import type { ActionsLevel } from "../../../domain/actions/level.ts";
import { secretParts, variableParts } from "./action-values.tsx";
import { runnerParts } from "./runners.tsx";
import type { SettingsPage, SettingsPart } from "./settings-part.ts";

/** The parts of settings about what Actions get from a level. The service has no secrets. */
export const actionsParts = <P extends SettingsPage>(
  settings: string,
  levelOf: (page: P) => ActionsLevel,
  { hasSecrets }: { hasSecrets: boolean } = { hasSecrets: true },
): SettingsPart<P>[] => [
  ...(hasSecrets ? secretParts(settings, levelOf) : []),
  ...variableParts(settings, levelOf),
  ...runnerParts(settings, levelOf),
];
