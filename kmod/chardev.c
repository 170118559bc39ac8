// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/ina: the file operations of a worker. All of them run in process
 * context; what they do is in worker.c.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <uapi/linux/ina_dev.h>

#include "chardev.h"
#include "net.h"
#include "node.h"
#include "worker.h"

/**
 * struct ina_file - an open file
 * @lock: one attach at a time
 * @worker: NULL until attached; then it does not change
 * @owner: file table of the process that attached
 */
struct ina_file {
	struct mutex lock;	/* attach */
	struct ina_worker *worker;
	fl_owner_t owner;
};

static int ina_chardev_open(struct inode *inode, struct file *file)
{
	struct ina_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);

	if (!f)
		return -ENOMEM;
	mutex_init(&f->lock);
	file->private_data = f;
	return stream_open(inode, file);
}

/* The worker of a file, once it is attached. */
static struct ina_worker *ina_chardev_worker(struct file *file)
{
	struct ina_file *f = file->private_data;

	/* Pairs with the release in ina_chardev_attach(). */
	return smp_load_acquire(&f->worker);
}

static int ina_chardev_release(struct inode *inode, struct file *file)
{
	struct ina_file *f = file->private_data;

	if (f->worker) {
		ina_worker_detach(f->worker);
		ina_worker_free(f->worker);
	}
	kfree(f);
	return 0;
}

/*
 * The process that attached is dying: its forked children may keep the file
 * open, but nobody will finish its rounds.
 */
static int ina_chardev_flush(struct file *file, fl_owner_t id)
{
	struct ina_worker *worker = ina_chardev_worker(file);
	struct ina_file *f = file->private_data;

	if (worker && f->owner == id && (current->flags & PF_EXITING))
		ina_worker_detach(worker);
	return 0;
}

static long ina_chardev_attach(struct ina_file *f,
			       struct ina_attach __user *user)
{
	struct ina_attach attach;
	struct ina_worker *worker;
	long err = 0;

	if (copy_from_user(&attach, user, sizeof(attach)))
		return -EFAULT;
	if (attach.flags)
		return -EINVAL;
	mutex_lock(&f->lock);
	if (f->worker) {
		err = -EISCONN;
		goto unlock;
	}
	worker = ina_worker_attach(ina_net(current->nsproxy->net_ns), &attach);
	if (IS_ERR(worker)) {
		err = PTR_ERR(worker);
		goto unlock;
	}
	if (copy_to_user(user, &attach, sizeof(attach))) {
		ina_worker_detach(worker);
		ina_worker_free(worker);
		err = -EFAULT;
		goto unlock;
	}
	f->owner = current->files;
	/* Pairs with the acquire in ina_chardev_worker(). */
	smp_store_release(&f->worker, worker);
unlock:
	mutex_unlock(&f->lock);
	return err;
}

static long ina_chardev_submit(struct ina_worker *worker, void __user *user)
{
	struct ina_submit submit;

	if (copy_from_user(&submit, user, sizeof(submit)))
		return -EFAULT;
	return ina_worker_submit(worker, &submit);
}

static long ina_chardev_wait(struct ina_worker *worker, void __user *user)
{
	struct ina_wait wait;

	if (copy_from_user(&wait, user, sizeof(wait)))
		return -EFAULT;
	return ina_worker_wait(worker, &wait);
}

static long ina_chardev_done(struct ina_worker *worker, void __user *user)
{
	u64 round;

	if (copy_from_user(&round, user, sizeof(round)))
		return -EFAULT;
	return ina_worker_release(worker, round);
}

static long ina_chardev_ioctl(struct file *file, unsigned int cmd,
			      unsigned long arg)
{
	struct ina_worker *worker = ina_chardev_worker(file);
	void __user *user = (void __user *)arg;

	if (cmd == INA_IOC_ATTACH)
		return ina_chardev_attach(file->private_data, user);
	if (_IOC_TYPE(cmd) != INA_IOC_MAGIC)
		return -ENOTTY;
	if (!worker)
		return -ENOTCONN;
	switch (cmd) {
	case INA_IOC_SUBMIT:
		return ina_chardev_submit(worker, user);
	case INA_IOC_WAIT:
		return ina_chardev_wait(worker, user);
	case INA_IOC_RELEASE:
		return ina_chardev_done(worker, user);
	}
	return -ENOTTY;
}

static __poll_t ina_chardev_poll(struct file *file, poll_table *table)
{
	struct ina_worker *worker = ina_chardev_worker(file);

	if (!worker)
		return EPOLLERR;
	poll_wait(file, &worker->node->wait, table);
	return ina_worker_poll(worker);
}

/* The area an offset lies in; *start: where it begins. */
static const struct ina_region *ina_chardev_area(struct ina_worker *worker,
						 u64 offset, u64 *start)
{
	if (offset >= INA_MMAP_RESULT) {
		*start = INA_MMAP_RESULT;
		return worker->node->results.addr ? &worker->node->results :
						    &worker->node->sums;
	}
	if (offset >= INA_MMAP_CONTRIB) {
		*start = INA_MMAP_CONTRIB;
		return &worker->contrib;
	}
	*start = INA_MMAP_CTL;
	return &worker->ctl_page;
}

static vm_fault_t ina_chardev_fault(struct vm_fault *vmf)
{
	struct ina_worker *worker = ina_chardev_worker(vmf->vma->vm_file);
	u64 offset = (u64)vmf->pgoff << PAGE_SHIFT;
	const struct ina_region *region;
	struct page *page;
	u64 start;

	region = ina_chardev_area(worker, offset, &start);
	page = ina_region_page(region, offset - start);
	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct ina_chardev_vm_ops = {
	.fault = ina_chardev_fault,
};

static int ina_chardev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ina_worker *worker = ina_chardev_worker(file);
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 size = vma->vm_end - vma->vm_start;
	const struct ina_region *region;
	u64 start;

	if (!worker)
		return -ENOTCONN;
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	region = ina_chardev_area(worker, offset, &start);
	if (offset - start >= region->size ||
	    size > region->size - (offset - start))
		return -EINVAL;
	if (start != INA_MMAP_CONTRIB) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND);
	vma->vm_ops = &ina_chardev_vm_ops;
	return 0;
}

static const struct file_operations ina_chardev_fops = {
	.owner = THIS_MODULE,
	.open = ina_chardev_open,
	.release = ina_chardev_release,
	.flush = ina_chardev_flush,
	.unlocked_ioctl = ina_chardev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = ina_chardev_poll,
	.mmap = ina_chardev_mmap,
	.llseek = noop_llseek,
};

static struct miscdevice ina_chardev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ina",
	.fops = &ina_chardev_fops,
	.mode = 0600,
};

/**
 * ina_chardev_init() - make /dev/ina; udev opens it to a group
 *
 * Return: 0 or a negative errno.
 */
int ina_chardev_init(void)
{
	return misc_register(&ina_chardev);
}

/**
 * ina_chardev_exit() - remove /dev/ina; nobody has it open
 */
void ina_chardev_exit(void)
{
	misc_deregister(&ina_chardev);
}
