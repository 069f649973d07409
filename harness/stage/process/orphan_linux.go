package process

import "syscall"

func dieWithOwner(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }
