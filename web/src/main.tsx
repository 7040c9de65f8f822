import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/pieces.css";
import "./styles/views.css";
import "./styles/graph.css";
import "./styles/work.css";
import "./styles/audit.css";
import "./styles/answers.css";
import { show, theme } from "./lib/theme";
import { Shell } from "./ui/Shell";
import { Shared } from "./state/app";

show(theme());
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Shared>
        <Shell />
      </Shared>
    </StrictMode>,
  );
}
