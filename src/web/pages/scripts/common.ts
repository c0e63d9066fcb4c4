/** The script of every page. */
import { copyOnClick } from "./common/copy.ts";
import { settleDrafts } from "./common/drafts.ts";
import { openNamedEntry } from "./common/entry.ts";
import { localize } from "./common/localize.ts";
import { closeMenus } from "./common/menus.ts";
import { focusScrollers } from "./common/scrollers.ts";
import { listenToKeys } from "./common/shortcuts.ts";

openNamedEntry();
localize(document);
copyOnClick();
closeMenus();
settleDrafts();
focusScrollers();
listenToKeys();
