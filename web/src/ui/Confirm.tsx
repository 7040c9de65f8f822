import type { ReactNode } from "react";
import { Button, Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";

interface Props {
  title: string;
  action: string;
  open: boolean;
  onClose: () => void;
  onConfirm: () => void;
  children: ReactNode;
}

export function Confirm({ title, action, open, onClose, onConfirm, children }: Props) {
  return (
    <ModalOverlay className="overlay" isOpen={open} onOpenChange={(shown) => !shown && onClose()} isDismissable>
      <Modal className="modal">
        <Dialog role="alertdialog" className="dialog">
          <Heading slot="title">{title}</Heading>
          {children}
          <div className="dialog-end">
            <Button className="button" onPress={onClose} autoFocus>
              Keep
            </Button>
            <Button
              className="button danger"
              onPress={() => {
                onClose();
                onConfirm();
              }}
            >
              {action}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
